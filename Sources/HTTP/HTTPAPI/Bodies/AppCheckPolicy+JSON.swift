import AppAttestation
import AppleAccounts
import AuthorizationServer
import StrictJSON

extension JSONWriter {
    mutating func value(_ client: AppCheckCoverage.Client) {
        beginObject()
        member("kind", client.kind.rawValue)
        member("client_id", client.id)
        member("app_check", client.mode.rawValue)
        member("declared_app_check", client.declaredMode.rawValue)
        member("basis", client.basis.rawValue)
        endObject()
    }

    /// - Parameter hours: The hours of the target, the oldest first.
    mutating func value(_ policy: AppCheckPolicy, hours: [AppCheckHour]) {
        beginObject()
        member("kind", policy.target.kind.rawValue)
        switch policy.target {
        case .app: break
        case .oauthClient(let id): member("client_id", id)
        }
        member("bundle_id", policy.appID.bundleID)
        member("app_check", policy.mode.rawValue)
        member("environment", policy.environment.rawValue)
        member("first_attesting_version", ifPresent: policy.firstAttestingVersion?.description)
        name("total")
        beginObject()
        members(of: hours.reduce(into: AppCheckTally()) { $0 += $1.tally })
        endObject()
        name("hours")
        beginArray()
        for hour in hours {
            element()
            beginObject()
            member("begins_at", Moment(seconds: hour.hour).rfc3339)
            members(of: hour.tally)
            endObject()
        }
        endArray()
        endObject()
    }

    private mutating func members(of tally: AppCheckTally) {
        for kind in AppCheckKind.allCases {
            name(kind.rawValue)
            value(tally[kind])
        }
    }
}
