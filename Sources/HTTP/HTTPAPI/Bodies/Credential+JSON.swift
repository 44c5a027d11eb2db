import AppleAccounts
import StrictJSON

extension JSONWriter {
    mutating func value(_ credential: Credential) {
        beginObject()
        members(of: credential)
        endObject()
    }

    mutating func members(of credential: Credential) {
        member("client_id", credential.clientID.rawValue)
        member("state", credential.state.rawValue)
        member("reason", ifPresent: credential.reason?.rawValue)
        member("source", ifPresent: credential.source?.rawValue)
        member("since", ifPresent: credential.since?.rfc3339)
        switch credential.refreshToken {
        case nil: break
        case .held: member("refresh_token", "held")
        case .pending: member("refresh_token", "pending")
        case .unavailable(let cause):
            member("refresh_token", "unavailable")
            member("refresh_token_cause", cause.rawValue)
        }
        if credential.disabledUntil != nil { member("account_disabled", true) }
    }
}
