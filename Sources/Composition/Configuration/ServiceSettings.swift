package import AppAttestation
package import AppleAccounts
package import AppleIDClient
package import AuthorizationServer
package import Cryptography
package import HTTPAPI
import HTTPEngine
package import KeySets
package import Logging

/// A service's checked configuration. All values are usable.
package struct ServiceSettings: Sendable {
    package var host = Setting.host.defaultText ?? ""
    package var numbers = SettingNumbers()
    /// The addresses of trusted proxies, which may open any number of connections.
    var trustedProxies: [AddressBlock] = []
    var environment = ServiceEnvironment.production
    /// Additional host names that the service accepts in development.
    package var allowedHosts: [String] = []
    package var logLevel = Logger.Level.info
    package var logFormat = LogFormat.text
    /// The trace collector to export to; `nil` if there is none.
    package var traces: TraceSettings?
    package var database = DatabaseLocation.sqlite(path: "siwa.sqlite")
    package var deployment: Deployment
    var apiKeys: [APIKey] = []
    /// SHA-256 of the key that gives access only to `/metrics`.
    var metricsKey: SHA256Digest?
    var keySource = KeySource.remote(baseURL: KeySource.apple)
    var issuers: [String]
    /// The signing keys for calls to Apple, by team. Verification does not need them. The settings reader has
    /// found a usable key at each location.
    package var signingKeys: [TeamID: SigningKeyLocation] = [:]
    /// The keys that seal refresh tokens in the database. If there are none, the service stores no refresh
    /// tokens.
    package var sealingKeys: SealingKeyRing?
    /// This service's public URL, without a trailing slash.
    package var publicURL: String?
    /// The redirect URLs that receive web flow results, by client ID.
    package var webRedirectURLs: [ClientID: String] = [:]
    /// The authorization server's settings; `nil` if there are no OAuth clients.
    package var oauth: OAuthSettings?
    /// The App Check policies for bundle IDs and OAuth clients.
    package var appCheck = AppCheckPolicies.none
    /// The fake Apple's App Attest root certificates. Only siwa-dev has them.
    package var fakeRoots: AppAttestRoots?
    /// The switch for exchanging App Attest receipts.
    package var receipts = ReceiptExchange.off
    /// Google's endpoints; in development, optionally the fake Google's endpoints.
    package var googleEndpoints = GoogleEndpoints.google
    /// Path of the JSON key file for the Google service account that registers the receiver of Google's
    /// security events. Only operator commands read the file.
    package var googleServiceAccountFile: String?
    /// The event receivers that have a URL.
    package var webhooks: [WebhookSettings] = []
    package var polledReceivers: [PolledReceiverSettings] = []
    package var clientStreams: [ClientStreamSettings] = []
    /// Each setting's origin, for the console. Empty for settings created without a reader.
    var origins: [SettingOrigin] = []
    /// The names of the API keys in SIWA_API_KEY_HASHES. All other keys are listed in the file.
    var namesInKeySetting: Set<String> = []
    /// The console's listening address. The console is off if its port is 0.
    package var consoleHost = Setting.consoleHost.defaultText ?? ""
    /// Additional host names that the console accepts.
    var consoleAllowedHosts: [String] = []
    /// The configuration parts as written, for detecting changes since the last start.
    var writtenParts: [String: String] = [:]

    /// True if at least one receiver gets security event tokens.
    var signsEvents: Bool {
        webhooks.contains { $0.audience != nil } || !polledReceivers.isEmpty || !clientStreams.isEmpty
    }

    /// The issuer of security event tokens: the authorization server's issuer, or the public URL if there are
    /// no OAuth clients.
    var eventIssuer: String? { oauth?.issuer.text ?? publicURL }

    /// True if Google is a client. The service then reports ended refresh tokens to Google.
    var tellsGoogle: Bool {
        oauth?.clients.clients.contains { $0.googleLinking != nil } ?? false
    }

    /// Returns true if this receiver gets security event tokens, and therefore verification events. Returns
    /// false for Google, which gets reports in its own format.
    package func getsSecurityEvents(_ name: ReceiverName) -> Bool {
        webhooks.contains { $0.name == name && $0.audience != nil }
            || polledReceivers.contains { $0.name == name } || clientStreams.contains { $0.name == name }
    }

    /// The names of all event receivers, including the built-in receiver.
    package var receiverNames: [ReceiverName] {
        webhooks.map(\.name) + polledReceivers.map(\.name) + clientStreams.map(\.name)
            + (tellsGoogle ? [.google] : [])
    }

    /// The URL that receives Google's security events; `nil` if no client accepts them.
    package var googleEventsURL: String? {
        guard let oauth,
            oauth.clients.clients.contains(where: { $0.googleLinking?.googleClientIDs.isEmpty == false })
        else { return nil }
        return "\(oauth.issuer.text)/v1/google/security-events"
    }

    /// Apple's endpoints, or in development optionally the emulator's.
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
    /// Creates settings for the trial, without a file or environment variables.
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

/// The environment that the service runs in.
package enum ServiceEnvironment: String, CaseIterable {
    /// Requires the real Apple, and API keys from callers.
    case production
    /// Allows the emulator in place of Apple. API keys are optional.
    case development
}

/// The source of Apple's public keys.
package enum KeySource: Sendable {
    /// Fetches `{baseURL}/auth/keys`. The base URL is Apple's, or in development optionally the emulator's.
    case remote(baseURL: String)
    case pinned(PinnedKeySet)

    static let apple = "https://appleid.apple.com"
}

/// The origin of a setting's value. It does not contain a secret's value.
struct SettingOrigin: Sendable, Equatable {
    enum Place: String, Sendable {
        case environment
        /// The YAML configuration file.
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
    /// Returns each setting's origin.
    ///
    /// - Parameter environment: The environment variables that count as set.
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

/// The numeric settings. Each number is within its setting's bounds.
package struct SettingNumbers: Sendable {
    private var numbers: [String: Int] = [:]

    /// Returns a setting's number, or its default.
    package subscript(_ setting: Setting) -> Int {
        get { numbers[setting.name] ?? setting.defaultNumber }
        set { numbers[setting.name] = newValue }
    }
}
