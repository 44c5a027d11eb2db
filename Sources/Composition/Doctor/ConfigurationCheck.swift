import AppleAccounts
import AuthorizationServer
import Cryptography
import HTTPAPI

/// Checks that the configuration is readable and contains no mistakes.
struct ConfigurationCheck: DoctorCheck {
    static let name = "configuration"

    let settings: Result<ServiceSettings, ConfigurationMistakes>

    func run() -> [Finding] {
        switch settings {
        case .success(let settings):
            let apps = settings.deployment.apps
            let counts = [
                Self.count(Set(apps.map(\.team)).count, "team"), Self.count(apps.count, "app"),
                Self.count(settings.deployment.clientIDs.count, "client ID"),
            ]
            var findings = [Finding.good(Self.name, counts.joined(separator: ", "))]
            if settings.environment == .development {
                findings.append(
                    .note(
                        Self.name, "SIWA_ENV is development, which is not safe in production",
                        advice: "In production, do not set SIWA_ENV."))
            }
            return findings
        case .failure(let mistakes):
            return mistakes.list.map { mistake in
                .wrong(
                    Self.name, mistake,
                    advice: "Correct this in the environment or in the file of SIWA_CONFIG.")
            }
        }
    }

    private static func count(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}

/// Checks that API keys are configured.
struct CallersCheck: DoctorCheck {
    static let name = "API keys"

    let settings: ServiceSettings

    func run() -> [Finding] {
        // In production, a missing API key is a configuration mistake.
        guard !settings.apiKeys.isEmpty else {
            return [
                .note(
                    Self.name, "none: every client that can reach the port may call",
                    advice: "siwa api-key creates a key; add its hash to SIWA_API_KEY_HASHES.")
            ]
        }
        return [.good(Self.name, settings.apiKeys.map(\.name).joined(separator: ", "))]
    }
}

/// Lists the OAuth clients. `ConfigurationCheck` reports mistakes in their declarations.
struct OAuthClientsCheck: DoctorCheck {
    static let name = "OAuth clients"

    let settings: ServiceSettings

    func run() -> [Finding] {
        guard let oauth = settings.oauth else { return [] }
        let ids = oauth.clients.clients.map(\.id.rawValue).joined(separator: ", ")
        return [.good(Self.name, "\(ids); the issuer is \(oauth.issuer)")]
    }
}

/// Checks that a sealing key is configured.
struct SealingKeysCheck: DoctorCheck {
    static let name = "sealing keys"

    let settings: ServiceSettings

    func run() -> [Finding] {
        guard let keys = settings.sealingKeys else {
            let advice = "siwa sealing-key creates one for SIWA_SEALING_KEYS."
            return [
                settings.signingKeys.isEmpty
                    ? .note(Self.name, "none: no refresh token is stored", advice: advice)
                    : .wrong(
                        Self.name,
                        "none: no refresh token is stored, although there is a signing key for calls to Apple",
                        advice: advice)
            ]
        }
        let names = keys.keys.map(\.name)
        let others = names.count > 1 ? "; \(names.dropFirst().joined(separator: ", ")) can only open" : ""
        return [.good(Self.name, "\(names[0]) seals\(others)")]
    }
}
