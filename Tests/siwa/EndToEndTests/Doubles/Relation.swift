import AppleEmulator
import Cryptography
import EmulatorServer
import Encodings
import Foundation
import HTTPAPI
import Logging
import StrictJSON
import TestSupport
import Testing

/// The fake Apple in this process, and the configuration of a service process that uses it.
struct Relation: Sendable {
    static let team = "SIWADEV000"
    static let clientID = WholeSystem.clientID
    static let webClientID = "com.example.web"
    static let secret = "siwa_relation_test"

    let apple: EmulatorState
    let directory: TemporaryDirectory
    private let variables: [String: String]

    /// - Parameters:
    ///   - interval: Seconds between two checks of a token, also for Apple's throttling.
    ///   - redirectURIs: Registered for the web flow.
    static func with<Result: Sendable>(
        checkingEvery interval: Int64 = 86_400, redirectURIs: [String] = [],
        _ body: @Sendable (Relation) async throws -> Result
    ) async throws -> Result {
        let key = try ClientKey.generate(teamID: team)
        var app = try EmulatedApp(teamID: team, clientIDs: [clientID, webClientID])
        app.redirectURIs = redirectURIs
        var configuration = EmulatorConfiguration(apps: [app])
        configuration.clientKeys = [key]
        configuration.keys = try await WholeSystem.appleKeys.value
        // Apple measures the time when a request arrives, which varies more than the time when it is sent.
        configuration.refreshInterval = interval * 9 / 10
        let emulator = try await EmulatedApple(configuration: configuration, clock: .system, logger: .silent)
        return try await TemporaryDirectory.with { directory in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await emulator.run() }
                let port = try await emulator.port()
                let relation = Relation(
                    apple: emulator.state, directory: directory,
                    variables: [
                        "SIWA_ENV": "development", "APPLE_BASE_URL": "http://127.0.0.1:\(port)",
                        "APPLE_TEAM_ID": team, "APPLE_CLIENT_IDS": "\(clientID),\(webClientID)",
                        "APPLE_KEY_ID": key.keyID, "APPLE_PRIVATE_KEY": key.privateKeyPEM ?? "",
                        "SIWA_SEALING_KEYS":
                            "test=\(Data(SecureRandom.bytes(count: 32)).base64EncodedString())",
                        "SIWA_CHECK_INTERVAL": "\(interval)",
                        "SIWA_API_KEY_HASHES": "test=\(Hexadecimal.encode(APIKeySecret.hash(secret)))",
                        "DATABASE_URL": "sqlite://\(directory.path)/siwa.sqlite",
                    ])
                let result = try await body(relation)
                group.cancelAll()
                return result
            }
        }
    }

    /// Starts the service, with the same database each time.
    func serve(_ more: [String: String] = [:]) async throws -> (service: ServiceProcess, backend: Backend) {
        let service = try await ServiceProcess.serve(directory, variables.merging(more) { $1 })
        let backend = Backend(port: service.port, secret: Self.secret)
        try await eventually { try await backend.get("/readyz").status == 200 }
        return (service, backend)
    }

    /// Log of all services so far, also of services that do not listen yet.
    func loggedText() throws -> String {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasSuffix(".log") }
            .map { try String(contentsOfFile: "\(directory.path)/\($0)", encoding: .utf8) }.joined()
    }

    /// The values that an app gets from Apple: a token, a code, and at the first sign-in a name.
    func authorize(_ user: EmulatedUser) throws -> MintedIdentityToken {
        var recipe = IdentityTokenRecipe()
        recipe.subject = user.subject
        recipe.authorizationCode = .made
        return try apple.mint(recipe)
    }

    /// Signs the user in, with a code.
    func signIn(_ user: EmulatedUser, at backend: Backend) async throws -> Backend.Response {
        let minted = try authorize(user)
        return try await backend.signIn(
            minted.identityToken, [("authorization_code", .string(minted.authorizationCode ?? ""))])
    }

    /// The user's credential in the response for the account.
    func credential(of user: EmulatedUser, at backend: Backend) async throws -> JSONValue? {
        try await backend.account(user.subject)["credentials"]?.array?.first
    }

    func requests(_ endpoint: EmulatedEndpoint) -> Int { apple.counters.requests[endpoint, default: 0] }

    /// Makes the endpoint send no response, after its work or without doing it.
    func hold(_ endpoint: EmulatedEndpoint, afterItsWork isDone: Bool) {
        var fault = EndpointFault()
        fault.delayMilliseconds = EndpointFault.maximumDelay
        fault.doesWork = isDone
        apple.setFault(fault, on: endpoint)
    }
}
