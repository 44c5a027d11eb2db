import AppAttestation
import AppleAccounts
import AuthorizationServer
import Logging

/// Reports the mode of each client in an app with App Check, because a single client without App Check
/// gives other programs access.
struct AppCheckClientsCheck: DoctorCheck {
    let settings: ServiceSettings

    /// The App Check coverage of all apps with at least one judged client.
    private var coverages: [AppCheckCoverage] {
        settings.deployment.apps.map { app in
            AppCheckCoverage(
                of: app, settings.appCheck, oauthClients: settings.oauth?.clients.clients ?? [])
        }.filter(\.judges)
    }

    func run() -> [Finding] {
        coverages.flatMap(\.clients).map { client in
            let text = "\(client.name): \(client.explanation)"
            return client.mode == .off || client.mode != client.declaredMode
                ? .note(AppCheckHoursCheck.name, text) : .good(AppCheckHoursCheck.name, text)
        }
    }

    /// Logs one line for each client when the service starts.
    func log(to logger: Logger) {
        for client in coverages.flatMap(\.clients) {
            logger.notice(
                "App Check of a client",
                metadata: [
                    "kind": "\(client.kind.rawValue)", "client": "\(client.id)",
                    "app_check": "\(client.mode.rawValue)",
                    "declared": "\(client.declaredMode.rawValue)", "basis": "\(client.basis.rawValue)",
                ])
        }
    }
}

extension AppCheckCoverage.Client {
    fileprivate var name: String {
        switch kind {
        case .clientID: id
        case .oauthClient: "OAuth client \(id)"
        }
    }
}

/// Reports how many of yesterday's requests (UTC) enforced mode would have refused, for each app and OAuth
/// client in monitored mode.
struct AppCheckHoursCheck {
    static let name = "app check"

    let policies: AppCheckPolicies
    /// The stored hourly counts for the policies' targets.
    let hours: [AppCheckHour]
    /// The current time in seconds since 1970.
    let now: Int64

    /// Returns the start of yesterday (UTC) in seconds since 1970.
    static func yesterday(at now: Int64) -> Int64 { max(0, now) / day * day - day }

    private static let day: Int64 = 86_400

    var findings: [Finding] { policies.all.filter { $0.mode == .monitored }.map(finding) }

    private func finding(_ policy: AppCheckPolicy) -> Finding {
        let name =
            switch policy.target {
            case .app(let bundleID): bundleID
            case .oauthClient(let id): "OAuth client \(id)"
            }
        let (begin, end) = (Self.yesterday(at: now), Self.yesterday(at: now) + Self.day)
        let tally = hours.reduce(into: AppCheckTally()) { sum, hour in
            if hour.target == policy.target, (begin..<end).contains(hour.hour) { sum += hour.tally }
        }
        guard tally.total > 0 else { return .note(Self.name, "\(name): no request yesterday") }
        guard tally.refusable > 0 else {
            return .good(
                Self.name, "\(name): yesterday's \(tally.total) requests were verified; enforcing is safe")
        }
        let text =
            "\(name): enforced mode would have refused \(tally.refusable) of yesterday's \(tally.total) requests"
        // Multiplies instead of dividing, because an integer quotient would be rounded.
        guard tally.refusable * 100 > tally.total else { return .good(Self.name, "\(text), at most 1%") }
        return .note(
            Self.name, "\(text), more than 1%",
            advice: "\(tally.outdatedApp) from outdated apps, \(tally.unknownOrigin) of unknown origin, "
                + "\(tally.invalid) with an invalid proof. Do not set app_check to enforced yet.")
    }
}
