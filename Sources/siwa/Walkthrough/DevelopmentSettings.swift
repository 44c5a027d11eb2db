import AppleAccounts
import AppleEmulator
import AppleIDClient
import AppleIdentity
import Cryptography
import HTTPAPI
import SignIn

/// The settings of `siwa dev`: like production in everything but the keys, the port and the database.
struct DevelopmentSettings {
    static let team = "SIWADEV000"
    /// The same in every run, so that a line that was pasted once works again. It opens nothing: the service listens on
    /// this machine only, and beside it anybody may mint tokens.
    static let secret = "siwa_development"

    let clientIDs: [String]
    let port: Int
    let applePort: Int
    let secret: String
    let database: String
    /// Registered at the fake Apple. Without one, codes are not exchanged.
    var signingKey: ClientKey?
    var checkInterval = Duration.seconds(60)
    /// Where sign-in on the web hands its result over.
    var webRedirectURL: String?
    /// Names besides this machine's under which the service is called.
    var allowedHosts: [String] = []

    /// The same in every run, like the secret, so that a database that was kept can be opened again.
    static let sealingKey = SealingKey(
        name: "development", bytes: SHA256Digest.hash("sealing key of siwa dev").bytes)

    struct ClientIDMalformed: Error, CustomStringConvertible {
        var description: String { "a client ID must have 1 to 255 characters and no control characters" }
    }

    func settings() throws -> ServiceSettings {
        let ids = clientIDs.compactMap { ClientID($0) }
        guard let team = TeamID(Self.team), ids.count == clientIDs.count, let primary = ids.first else {
            throw ClientIDMalformed()
        }
        let app = App(team: team, primaryClientID: primary, otherClientIDs: Array(ids.dropFirst()))
        var settings = ServiceSettings(
            port: port, environment: .development, database: try DatabaseLocation(url: database),
            deployment: try Deployment(apps: [app]),
            apiKeys: [APIKey(name: "development", hash: APIKeySecret.hash(secret), scope: .all)],
            keySource: .remote(baseURL: "http://127.0.0.1:\(applePort)"),
            issuers: [VerificationPolicy.appleIssuer])
        settings.sealingKeys = Self.sealingKey.flatMap { SealingKeyRing([$0]) }
        settings.checkInterval = checkInterval
        if let signingKey, let pem = signingKey.privateKeyPEM {
            settings.signingKeys[team] = .key(try ClientSigningKey(keyID: signingKey.keyID, pem: pem))
        }
        // Apple's page signs people in for Services IDs, and the first client ID is the app's bundle ID.
        for id in app.clientIDs where id != primary { settings.webRedirectURLs[id] = webRedirectURL }
        settings.allowedHosts = allowedHosts
        // A port that the system chooses is known too late.
        if port != 0 { settings.publicURL = "http://127.0.0.1:\(port)" }
        return settings
    }
}
