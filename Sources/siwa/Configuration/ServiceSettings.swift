import AppleAccounts
import AppleIDClient
import Cryptography
import HTTPAPI
import Logging

/// The configuration of a service, checked: whatever is in here can be used as it is.
struct ServiceSettings: Sendable {
    var host = "127.0.0.1"
    /// 0 lets the system choose.
    var port = 8080
    /// The part of all connections that one address may hold, in percent.
    var addressShare = 50
    /// May hold any number.
    var trustedProxies: [AddressBlock] = []
    var environment = ServiceEnvironment.production
    /// Names besides this machine's under which the service is called in development.
    var allowedHosts: [String] = []
    var logLevel = Logger.Level.info
    var database = DatabaseLocation.sqlite(path: "siwa.sqlite")
    /// To PostgreSQL, at most.
    var databaseConnections = 8
    var deployment: Deployment
    var apiKeys: [APIKey] = []
    var keySource = KeySource.remote(baseURL: KeySource.apple)
    var issuers: [String]
    /// For calls to Apple, by team. Not needed to verify. Each had a usable key when the settings were read.
    var signingKeys: [TeamID: SigningKeyLocation] = [:]
    /// For what is stored to call Apple with. Without one nothing of that is stored.
    var sealingKeys: SealingKeyRing?
    /// Where the world reaches this service: no slash at the end.
    var publicURL: String?
    /// Where the web flow hands its results to, by client ID.
    var webRedirectURLs: [ClientID: String] = [:]
    /// Between two validations of one refresh token.
    var checkInterval: Duration = .seconds(86_400)
    /// How many refresh tokens are validated in a second, at most.
    var checksPerSecond = 25

    /// Where Apple is asked: in development perhaps the emulator.
    var appleEndpoints: AppleEndpoints {
        // The settings reader has checked the URL.
        if case .remote(let baseURL) = keySource {
            AppleEndpoints(baseURL: baseURL) ?? .apple
        } else {
            .apple
        }
    }
}
