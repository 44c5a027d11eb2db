import AppleAccounts
import HTTPAPI
import Logging

/// The configuration of a service, checked: whatever is in here can be used as it is.
struct ServiceSettings: Sendable {
    var host = "127.0.0.1"
    /// 0 lets the system choose.
    var port = 8080
    var environment = ServiceEnvironment.production
    var logLevel = Logger.Level.info
    var database = DatabaseLocation.sqlite(path: "siwa.sqlite")
    var deployment: Deployment
    var apiKeys: [APIKey] = []
    var keySource = KeySource.remote(baseURL: KeySource.apple)
    var issuers: [String]
    /// For calls to Apple, by team. Not needed to verify.
    var signingKeys: [TeamID: SigningKey] = [:]
}
