import Foundation
import SiwaBinary
import Synchronization
import TestSupport
import Testing

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
            let system = DeliverySystem(
                database: database, receivers: receivers, polls: polls, directory: directory,
                variables: try ServiceProcess.variables(
                    directory, ServiceProcess.signing().merging(["DATABASE_URL": database.url]) { $1 }))
            let result = try await body(system)
            for (_, server) in receivers { try await server.close() }
            return result
        }
    }

    subscript(name: String) -> ReceivingServer {
        get throws { try #require(receivers.first { $0.name == name }).server }
    }

    func serve(replica: String = "a") async throws -> ServiceProcess {
        try await ServiceProcess.serve(directory, try environment(replica))
    }

    /// Runs a command of the operator with the configuration of the service.
    func run(_ arguments: [String]) async throws -> ProgramRun {
        try await BuiltSiwa.run(arguments, try environment("a"), in: directory)
    }

    /// Ends all claims, as if the 30 seconds of the claims of a killed process had passed.
    func endClaims() async throws { try await database.query("UPDATE event_receiver SET not_before = 0") }

    /// Hands out again what a poll got and did not acknowledge, as after a minute.
    func endPolls() async throws {
        try await database.query(
            "UPDATE event_retry SET due_at = 0 WHERE receiver = '\(PollingReceiver.name)'")
    }

    /// The variables of a replica. The path of its requests has its name.
    private func environment(_ replica: String) throws -> [String: String] {
        let secret = try directory.write(
            WebhookSender.secret(Array(repeating: 7, count: 32)) + "\n", to: "secret")
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

/// Writers that sign users in and send Apple's notifications about them, so that each account has several
/// events, one after the other.
final class DeliveryLoad: Sendable {
    private let name: String
    private let backend: @Sendable () -> Backend?
    private let isClosed = Mutex(false)

    /// - Parameter backend: A service that runs; `nil` while none does.
    init(_ name: String, backend: @escaping @Sendable () -> Backend?) {
        (self.name, self.backend) = (name, backend)
    }

    func close() { isClosed.withLock { $0 = true } }

    /// Runs until it is closed, or until each writer has had its users.
    ///
    /// - Parameter pause: Time between two requests of a writer.
    func run(writers: Int, users: Int = .max, pause: Duration = .milliseconds(5)) async {
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    var number = 0
                    while !self.isClosed.withLock({ $0 }), !Task.isCancelled, number < users {
                        await self.story(of: "\(self.name).\(writer).\(number)", pause)
                        number += 1
                    }
                }
            }
        }
    }

    /// The life of one user: six events.
    private func story(of subject: String, _ pause: Duration) async {
        guard let token = try? Minted.token(subject) else { return }
        guard await send({ try await $0.signIn(token) }) else {
            // The service is down, or starts.
            try? await Task.sleep(for: .milliseconds(20))
            return
        }
        let types = ["email-disabled", "email-enabled", "email-disabled", "consent-revoked"]
        for (step, type) in types.enumerated() {
            try? await Task.sleep(for: pause)
            guard !isClosed.withLock({ $0 }),
                let payload = try? Minted.notification(subject, type: type, step: step)
            else { return }
            _ = await send { try await $0.notify(payload) }
        }
    }

    private func send(_ call: (Backend) async throws -> Backend.Response) async -> Bool {
        guard let backend = backend(), let response = try? await call(backend) else { return false }
        return response.status < 300
    }
}
