import Cryptography
import Encodings
import Foundation
import SiwaBinary
import TestSupport
import TokenMint

/// A database, a configuration with receivers, and services as processes of their own.
///
/// The receiver "tokens" gets security event tokens, the others get webhooks.
struct DeliverySystem: Sendable {
    static let tokens = "tokens"

    let database: ObservedDatabase
    let receivers: [(name: String, server: ReceivingServer)]
    /// True if there is a receiver that polls, too.
    let polls: Bool
    let directory: TemporaryDirectory
    private let variables: [String: String]

    static func with<Result>(
        _ store: ObservedDatabase.Store, _ names: [String], polls: Bool = false,
        _ body: (DeliverySystem) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.with { directory in
            let database = try await ObservedDatabase.make(store, in: directory)
            var receivers: [(String, ReceivingServer)] = []
            for name in names { receivers.append((name, try await ReceivingServer())) }
            let sealing = "test=\(Base64.encode(SecureRandom.bytes(count: 32)))"
            let system = DeliverySystem(
                database: database, receivers: receivers, polls: polls, directory: directory,
                variables: try CrashTests.variables(directory).merging([
                    "SIWA_ENV": "development", "DATABASE_URL": database.url,
                    "SIWA_SEALING_KEYS": sealing, "SIWA_PUBLIC_URL": "http://127.0.0.1:8080",
                    "SIWA_WEB_REDIRECT_URL": "http://127.0.0.1:8080/health",
                    "APPLE_CLIENT_IDS": "\(TokenMint.clientID),com.example.web",
                ]) { $1 })
            let result = try await body(system)
            for (_, server) in receivers { try await server.close() }
            return result
        }
    }

    subscript(name: String) -> ReceivingServer {
        get throws {
            guard let found = receivers.first(where: { $0.name == name }) else { throw NoReceiver() }
            return found.server
        }
    }

    struct NoReceiver: Error {}

    func serve(replica: String = "a") async throws -> ServiceProcess {
        try await ServiceProcess.serve(directory, try environment(replica))
    }

    static func backend(_ service: ServiceProcess) -> Backend {
        Backend(port: service.port, secret: CrashTests.secret)
    }

    /// Runs a command of the operator with the configuration of the service.
    func run(_ arguments: [String]) async throws -> ProgramRun {
        try await ProgramRun.of(
            BuiltSiwa.url(), arguments,
            environment: try environment("a").merging(["PATH": "/usr/bin:/bin"]) { $1 }, in: directory.path)
    }

    /// Ends all claims, as if the 30 seconds of the claims of a killed process had passed.
    func endClaims() async throws {
        try await database.query("UPDATE event_receiver SET not_before = 0")
    }

    /// Hands out again what a poll got and did not acknowledge, as after a minute.
    func endPolls() async throws {
        try await database.query(
            "UPDATE event_retry SET due_at = 0 WHERE receiver = '\(PollingReceiver.name)'")
    }

    /// The variables of a replica. The path of its requests has its name.
    private func environment(_ replica: String) throws -> [String: String] {
        let secret = try directory.write(
            "whsec_\(Base64.encode(Array(repeating: 7, count: 32)))\n", to: "secret")
        var webhooks = receivers.map { name, server in
            """
              - name: \(name)
                url: http://127.0.0.1:\(server.port)/\(replica)
                \(name == Self.tokens ? "audience: billing" : "secret_files: [\(secret)]")
            """
        }
        if polls {
            webhooks.append(
                """
                  - name: \(PollingReceiver.name)
                    audience: billing
                    api_key: test
                """)
        }
        let file = """
            webhooks:
            \(webhooks.joined(separator: "\n"))
            \(OAuthSection.phone)

            """
        let path = try directory.write(file, to: "replica-\(replica).yaml")
        return variables.merging(["SIWA_CONFIG": path]) { $1 }
    }
}
