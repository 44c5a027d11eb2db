package import AppAttestation
package import AppleAccounts
package import AppleIDClient
package import AuthorizationServer
package import Cryptography
package import HTTPAPI
import HTTPEngine
package import KeySets
package import Logging

/// The configuration of a service after all checks: every value can be used.
package struct ServiceSettings: Sendable {
    package var host = Setting.host.defaultText ?? ""
    /// The settings that are numbers.
    package var numbers = SettingNumbers()
    /// Addresses that may hold any number of connections.
    var trustedProxies: [AddressBlock] = []
    var environment = ServiceEnvironment.production
    /// Additional host names of the service in development.
    package var allowedHosts: [String] = []
    package var logLevel = Logger.Level.info
    package var logFormat = LogFormat.text
    /// `nil` without a collector.
    package var traces: TraceSettings?
    package var database = DatabaseLocation.sqlite(path: "siwa.sqlite")
    package var deployment: Deployment
    var apiKeys: [APIKey] = []
    /// SHA-256 of the key that opens only `/metrics`.
    var metricsKey: SHA256Digest?
    var keySource = KeySource.remote(baseURL: KeySource.apple)
    var issuers: [String]
    /// The keys for calls to Apple, by team. Verification does not need them.
    /// Each location had a usable key when the reader checked the settings.
    package var signingKeys: [TeamID: SigningKeyLocation] = [:]
    /// The keys that seal refresh tokens in the database. Without a sealing key, no refresh token is stored.
    package var sealingKeys: SealingKeyRing?
    /// The public URL of this service, without a slash at the end.
    package var publicURL: String?
    /// The pages that receive the results of the web flow, by client ID.
    package var webRedirectURLs: [ClientID: String] = [:]
    /// Settings of the authorization server; `nil` without OAuth clients.
    package var oauth: OAuthSettings?
    /// App Check of the bundle IDs and OAuth clients.
    package var appCheck = AppCheckPolicies.none
    /// The roots of App Attest of the fake Apple. Only siwa-dev has these roots.
    package var fakeRoots: AppAttestRoots?
    /// Exchange of the receipts of App Attest.
    package var receipts = ReceiptExchange.off
    /// Endpoints of Google, or in development possibly of the fake Google.
    package var googleEndpoints = GoogleEndpoints.google
    /// The JSON key file of the service account that registers the receiver of Google's security events. Only
    /// commands of the operator read it.
    package var googleServiceAccountFile: String?
    /// Receivers of events.
    package var webhooks: [WebhookSettings] = []
    package var polledReceivers: [PolledReceiverSettings] = []
    package var clientStreams: [ClientStreamSettings] = []
    /// Each setting with its place, for the console. Empty for settings made without a reader.
    var origins: [SettingOrigin] = []
    /// Names of the API keys in SIWA_API_KEY_HASHES. Other keys are in the list of the file.
    var namesInKeySetting: Set<String> = []
    /// The address of the console; its port is 0 if the console is off.
    package var consoleHost = Setting.consoleHost.defaultText ?? ""
    /// Additional host names of the console.
    var consoleAllowedHosts: [String] = []
    /// The parts of the configuration as written, to find changes since the last start.
    var writtenParts: [String: String] = [:]

    /// True if the service has receivers of security event tokens.
    var signsEvents: Bool {
        webhooks.contains { $0.audience != nil } || !polledReceivers.isEmpty || !clientStreams.isEmpty
    }

    /// Issuer of security event tokens: the issuer of the
    /// authorization server, or without OAuth clients the public URL.
    var eventIssuer: String? { oauth?.issuer.text ?? publicURL }

    /// True if Google is a client, which gets reports of ended refresh tokens.
    var tellsGoogle: Bool {
        oauth?.clients.clients.contains { $0.googleLinking != nil } ?? false
    }

    /// True if this receiver gets security event tokens, and so also verification
    /// events. False for Google, which gets reports in its own form.
    package func getsSecurityEvents(_ name: ReceiverName) -> Bool {
        webhooks.contains { $0.name == name && $0.audience != nil }
            || polledReceivers.contains { $0.name == name } || clientStreams.contains { $0.name == name }
    }

    /// The names of all receivers of events, including the built-in receiver.
    package var receiverNames: [ReceiverName] {
        webhooks.map(\.name) + polledReceivers.map(\.name) + clientStreams.map(\.name)
            + (tellsGoogle ? [.google] : [])
    }

    /// Address that receives Google's security events; `nil` without a client that accepts them.
    package var googleEventsURL: String? {
        guard let oauth,
            oauth.clients.clients.contains(where: { $0.googleLinking?.googleClientIDs.isEmpty == false })
        else { return nil }
        return "\(oauth.issuer.text)/v1/google/security-events"
    }

    /// Endpoints of Apple, or in development possibly of the emulator.
    var appleEndpoints: AppleEndpoints {
        // The settings reader has checked the URL.
        if case .remote(let baseURL) = keySource {
            AppleEndpoints(baseURL: baseURL) ?? .apple
        } else {
            .apple
        }
    }
}

extension ServiceSettings {
    /// Settings without a file and without variables, for the trial.
    package init(
        environment: ServiceEnvironment, database: DatabaseLocation, deployment: Deployment,
        apiKeys: [APIKey],
        keySource: KeySource, issuers: [String]
    ) {
        self.init(deployment: deployment, issuers: issuers)
        (self.environment, self.database) = (environment, database)
        (self.apiKeys, self.keySource) = (apiKeys, keySource)
    }
}

/// The environment of the service.
package enum ServiceEnvironment: String, CaseIterable {
    /// Requires the real Apple, and API keys for callers.
    case production
    /// Apple may be the emulator, and API keys are optional.
    case development
}

/// The source of Apple's public keys.
package enum KeySource: Sendable {
    /// `{baseURL}/auth/keys`. The base URL is Apple's, or in development perhaps the emulator's.
    case remote(baseURL: String)
    case pinned(PinnedKeySet)

    static let apple = "https://appleid.apple.com"
}

/// Origin of the value of a setting. Contains no value of a secret.
struct SettingOrigin: Sendable, Equatable {
    enum Place: String, Sendable {
        case environment
        /// The YAML file.
        case file
        case byDefault = "default"
        case notSet = "not set"
    }

    let name: String
    let place: Place
    /// The value as written; `nil` for a secret, and for a setting without a value.
    let text: String?
}

extension SettingsReader {
    /// Returns the origin of each setting.
    ///
    /// - Parameter environment: The variables that count as set.
    func origins(environment: [String: String]) -> [SettingOrigin] {
        Setting.all.map { setting in
            let place: SettingOrigin.Place =
                if environment[setting.name] != nil {
                    .environment
                } else if file?.values[setting.nameInFile] != nil {
                    .file
                } else {
                    setting.defaultText == nil ? .notSet : .byDefault
                }
            return SettingOrigin(
                name: setting.name, place: place, text: setting.isSecret ? nil : text(setting))
        }
    }
}

/// The numbers of the configuration, each within the bounds of its setting.
package struct SettingNumbers: Sendable {
    private var numbers: [String: Int] = [:]

    /// The number of a setting, or its default.
    package subscript(_ setting: Setting) -> Int {
        get { numbers[setting.name] ?? setting.defaultNumber }
        set { numbers[setting.name] = newValue }
    }
}
