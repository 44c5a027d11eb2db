import AppAttestation
import AppleAccounts
import AuthorizationServer
import Logging

/// Says for each client of an app with App Check which mode holds: a client that is forgotten would let other
/// programs in.
struct AppCheckClientsCheck: DoctorCheck {
    let settings: ServiceSettings

    /// App Check of the apps in which at least one client is judged.
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

    /// Writes a line for each client, at the start.
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
