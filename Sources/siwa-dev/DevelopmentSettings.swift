import AppAttestation
import AppleAccounts
import AppleEmulator
import AppleIDClient
import AppleIdentity
import AuthorizationServer
import Composition
import Cryptography
import HTTPAPI
import SignIn

/// The settings for `siwa dev`: as in production, except for the keys, the ports and the database.
struct DevelopmentSettings {
    static let team = "SIWADEV000"
    /// API key, the same in every run, so that copied commands work again. It protects nothing, because the
    /// service is reachable only on this machine, where the fake Apple signs tokens for every caller.
    static let secret = "siwa_development"

    let clientIDs: [String]
    let port: Int
    let applePort: Int
    let secret: String
    let database: String
    /// The key registered with the fake Apple. Without it, the service cannot exchange Apple's codes.
    var signingKey: ClientKey?
    var checkInterval = Duration.seconds(60)
    /// App Check mode for the app's bundle ID, and for the phone app's client.
    var appCheckMode = AppCheckMode.monitored
    /// URL of the page that receives the result when a user signs in on the web.
    var webRedirectURL: String?
    /// The address on which the service listens.
    var host = "127.0.0.1"
    /// Additional host names for the service.
    var allowedHosts: [String] = []
    /// Settings for the fake Google; `nil` if the service has no OAuth clients.
    var google: Google?
    /// The fake event receivers.
    var receivers: DevelopmentReceivers?

    struct Google {
        let port: Int
        let redirectURIs: [String]
    }

    /// Sealing key, which is the same in every run, so that a permanent database's sealed values can still be
    /// opened after a restart.
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
            environment: .development, database: try DatabaseLocation(url: database),
            deployment: try Deployment(apps: [app]),
            apiKeys: [APIKey(name: "development", hash: APIKeySecret.hash(secret), scope: .all)],
            keySource: .remote(baseURL: "http://127.0.0.1:\(applePort)"),
            issuers: [VerificationPolicy.appleIssuer])
        settings.fakeRoots = .fake
        settings.sealingKeys = Self.sealingKey.flatMap { SealingKeyRing([$0]) }
        settings.host = host
        settings.numbers[.port] = port
        settings.numbers[.checkInterval] = Int(checkInterval.components.seconds)
        settings.appCheck = appCheck(of: primary)
        if let signingKey, let pem = signingKey.privateKeyPEM {
            settings.signingKeys[team] = .key(try ClientSigningKey(keyID: signingKey.keyID, pem: pem))
            settings.receipts = .on
        }
        // Sign-in on the web uses Services IDs only, and the first client ID is the app's bundle ID.
        for id in app.clientIDs where id != primary { settings.webRedirectURLs[id] = webRedirectURL }
        settings.allowedHosts = allowedHosts
        // If the system chooses the port, its number is not known yet.
        if port != 0 { settings.publicURL = "http://127.0.0.1:\(port)" }
        if let google, let publicURL = settings.publicURL {
            let oauth = try DevelopmentClients(
                app: primary, appCheck: settings.appCheck, googleRedirectURIs: google.redirectURIs,
                site: "http://127.0.0.1:\(applePort)/site"
            ).settings(publicURL: publicURL, deployment: settings.deployment)
            settings.oauth = oauth
            settings.clientStreams = (oauth?.clients.clients ?? []).compactMap { client in
                client.events.map { ClientStreamSettings(client: client.id, kinds: $0.kinds, push: nil) }
            }
            settings.polledReceivers = Self.polledReceivers
            settings.appCheck = AppCheckPolicies(
                settings.appCheck.all + (oauth?.clients.clients.compactMap(\.appCheck) ?? []))
            settings.googleEndpoints =
                GoogleEndpoints(baseURL: "http://127.0.0.1:\(google.port)") ?? settings.googleEndpoints
        }
        settings.webhooks = receivers?.webhooks(signsEvents: settings.oauth != nil) ?? []
        return settings
    }

    /// A receiver for trying out polling.
    private static let polledReceivers = ["billing"].compactMap { ReceiverName($0) }.map { name in
        PolledReceiverSettings(
            name: name, kinds: Set(AccountEvent.Kind.allCases), scope: .all, audience: name.rawValue,
            keyName: "development")
    }

    /// Returns the App Check policy for the app's bundle ID; empty if the client ID is not a bundle ID.
    private func appCheck(of bundleID: ClientID) -> AppCheckPolicies {
        guard let appID = AppID(teamID: Self.team, bundleID: bundleID.rawValue) else { return .none }
        return AppCheckPolicies([
            AppCheckPolicy(
                target: .app(bundleID: bundleID.rawValue), appID: appID, platform: .iOS, mode: appCheckMode,
                environment: .development, firstAttestingVersion: nil)
        ])
    }
}
