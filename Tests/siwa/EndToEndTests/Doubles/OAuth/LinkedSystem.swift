import AppleEmulator
import Cryptography
import EmulatorServer
import Encodings
import Foundation
import GoogleEmulator
import HTTPAPI
import Logging
import SiwaBinary
import TestSupport

/// The fake Apple and the fake Google in this process, and services with OAuth clients as processes of their
/// own, all on one database.
struct LinkedSystem: Sendable {
    static let secret = "siwa_linked_test"
    static let clientID = WholeSystem.clientID
    static let webClientID = "com.example.web"

    let apple: EmulatedApple
    let google: GoogleState
    let database: ObservedDatabase
    let directory: TemporaryDirectory
    /// Ports of the replicas. The first port is in the issuer, whose documents the fake Google reads.
    let ports: [Int]
    private let variables: [String: String]

    var issuer: String { "http://127.0.0.1:\(ports[0])" }

    /// The key, made once, because making a key takes longer than most tests.
    private static let googleKey = Task { try GoogleKey.generate() }

    /// - Parameter hasClients: True for services with OAuth clients.
    static func with<Result: Sendable>(
        _ store: ObservedDatabase.Store, hasClients: Bool = true,
        _ body: @Sendable (LinkedSystem) async throws -> Result
    ) async throws -> Result {
        let ports = [try FreePort.find(), try FreePort.find()]
        var app = try EmulatedApp(teamID: Relation.team, clientIDs: [clientID, webClientID])
        app.redirectURIs = ["http://127.0.0.1:\(ports[0])/v1/web/callback"]
        var configuration = EmulatorConfiguration(apps: [app])
        configuration.keys = try await WholeSystem.appleKeys.value
        let apple = try await EmulatedApple(configuration: configuration, clock: .system, logger: .silent)
        var linking = GoogleEmulatorConfiguration(
            clientID: LinkedClients.google, clientSecret: LinkedClients.googleSecret,
            scopes: LinkedClients.googleScopes)
        linking.key = try await googleKey.value
        linking.googleClientID = LinkedClients.googleClientID
        linking.server = LinkedServer(issuer: "http://127.0.0.1:\(ports[0])")
        let google = try await GoogleEmulatorService(
            configuration: linking, clock: .system, logger: .silent)
        return try await TemporaryDirectory.with { directory in
            let database = try await ObservedDatabase.make(store, in: directory)
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await apple.run() }
                group.addTask { try await google.run() }
                let system = LinkedSystem(
                    apple: apple, google: google.state, database: database, directory: directory,
                    ports: ports,
                    variables: try variables(
                        applePort: try await apple.port(), googlePort: try await google.port(),
                        ports: ports, hasClients: hasClients, directory
                    ).merging(["DATABASE_URL": database.url]) { $1 })
                let result = try await body(system)
                group.cancelAll()
                return result
            }
        }
    }

    /// Two replicas on PostgreSQL, both ready.
    static func withReplicas<Result: Sendable>(
        _ body: @Sendable (LinkedSystem, [OAuthReplica]) async throws -> Result
    ) async throws -> Result {
        try await with(.postgres) { system in
            async let first = system.serve(0)
            async let second = system.serve(1)
            let replicas = [try await first, try await second]
            let result = try await body(system, replicas)
            for replica in replicas { _ = await replica.service.stop() }
            return result
        }
    }

    private static func variables(
        applePort: Int, googlePort: Int, ports: [Int], hasClients: Bool, _ directory: TemporaryDirectory
    ) throws -> [String: String] {
        var variables = [
            "SIWA_ENV": "development", "APPLE_BASE_URL": "http://127.0.0.1:\(applePort)",
            "SIWA_GOOGLE_BASE_URL": "http://127.0.0.1:\(googlePort)",
            "APPLE_TEAM_ID": Relation.team, "APPLE_CLIENT_IDS": "\(clientID),\(webClientID)",
            "SIWA_SEALING_KEYS": "test=\(Data(SecureRandom.bytes(count: 32)).base64EncodedString())",
            "SIWA_API_KEY_HASHES": "test=\(Hexadecimal.encode(APIKeySecret.hash(secret)))",
            "SIWA_PUBLIC_URL": "http://127.0.0.1:\(ports[0])",
            "SIWA_WEB_REDIRECT_URL": "http://127.0.0.1:\(ports[0])/health",
        ]
        if hasClients {
            variables["SIWA_CONFIG"] = try directory.write(LinkedClients.configuration, to: "siwa.yaml")
        }
        return variables
    }

    /// Starts a replica, at the same port each time.
    func serve(_ number: Int = 0, _ more: [String: String] = [:]) async throws -> OAuthReplica {
        let port = ["SIWA_PORT": "\(ports[number])"]
        let service = try await ServiceProcess.serve(
            directory, variables.merging(port) { $1 }.merging(more) { $1 })
        let replica = OAuthReplica(service: service)
        try await eventually { try await replica.backend.get("/readyz").status == 200 }
        return replica
    }

    /// Runs a command of the operator with the configuration of the service.
    func run(_ arguments: [String], _ more: [String: String] = [:]) async throws -> ProgramRun {
        try await ProgramRun.of(
            BuiltSiwa.url(), arguments,
            environment: variables.merging(["PATH": "/usr/bin:/bin"]) { $1 }.merging(more) { $1 },
            in: directory.path)
    }

    /// Makes a user at the fake Apple.
    func makeUser() throws -> EmulatedUser { try apple.state.makeUser(UserRecipe()) }

    /// The identity token that the user's iPhone gets from Apple.
    func identityToken(of user: EmulatedUser) throws -> String {
        var recipe = IdentityTokenRecipe()
        recipe.subject = user.subject
        return try apple.state.mint(recipe).identityToken
    }

    /// The notification that Apple sends when the user stops using the app.
    func revocation(of user: EmulatedUser) throws -> String {
        var recipe = NotificationRecipe()
        recipe.subject = user.subject
        let (_, notifications) = try apple.state.change(.revokeConsent, notifying: recipe)
        guard let payload = notifications.first?.payload else { throw NoNotification() }
        return payload
    }

    struct NoNotification: Error {}
}

/// The OAuth clients of `LinkedSystem`.
enum LinkedClients {
    static let google = "google"
    static let googleSecret = "the secret that was typed into Google's console"
    static let googleScopes = ["openid", "email"]
    static let googleClientID = "123-test.apps.googleusercontent.com"
    static let appFlipURI = "https://oauth-redirect.googleusercontent.com/a/com.google.OPA"
    static let web = "shop"
    static let webSecret = "the secret of the shop"
    static let webURI = "https://shop.example.com/back"
    /// Native apps, enough to reach the limit of an account.
    static let phones = (1...6).map { "phone-\($0)" }
    static let phoneURI = "com.example.app:/back"

    static let configuration = """
        oauth:
          clients:
            - id: \(google)
              kind: google_linking
              app: \(LinkedSystem.clientID)
              name: Google
              secret_hashes: [\(hash(googleSecret))]
              scopes: [\(googleScopes.joined(separator: ", "))]
              project_id: test-project
              app_flip: true
              google_client_ids: [\(googleClientID)]
            - id: \(web)
              kind: web
              app: \(LinkedSystem.clientID)
              name: Shop
              secret_hashes: [\(hash(webSecret))]
              scopes: [openid, offline_access]
              redirect_uris: ["\(webURI)"]

        """ + phones.map(phone).joined()

    private static func phone(_ id: String) -> String {
        """
            - id: \(id)
              kind: native
              app: \(LinkedSystem.clientID)
              name: Phone
              platform: ios
              scopes: [openid, offline_access]
              redirect_uris: ["\(phoneURI)"]

        """
    }

    private static func hash(_ secret: String) -> String { Hexadecimal.encode(SHA256Digest.hash(secret)) }
}
