import Foundation
import StrictJSON
import Synchronization
import TokenMint

/// Writers that sign users in and send Apple's notifications about them, so that each account has several
/// events, one after the other.
final class DeliveryLoad: Sendable {
    private let name: String
    private let backend: @Sendable () -> Backend?
    private let state = Mutex((isClosed: false, users: 0))

    /// - Parameter backend: A service that runs; `nil` while none does.
    init(_ name: String, backend: @escaping @Sendable () -> Backend?) {
        (self.name, self.backend) = (name, backend)
    }

    func close() { state.withLock { $0.isClosed = true } }
    private var isClosed: Bool { state.withLock(\.isClosed) }
    /// Number of users with at least one acknowledged event.
    var users: Int { state.withLock(\.users) }

    /// Runs until it is closed, or until each writer has had its users.
    ///
    /// - Parameter pause: Time between two requests of a writer.
    func run(writers: Int, users: Int = .max, pause: Duration = .milliseconds(5)) async {
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    var number = 0
                    while !self.isClosed, !Task.isCancelled, number < users {
                        await self.story(of: "\(self.name).\(writer).\(number)", pause)
                        number += 1
                    }
                }
            }
        }
    }

    /// The life of one user: six events.
    private func story(of subject: String, _ pause: Duration) async {
        guard let token = try? CrashTests.token(subject) else { return }
        guard await send({ try await $0.signIn(token) }) else {
            // The service is down, or starts.
            try? await Task.sleep(for: .milliseconds(20))
            return
        }
        state.withLock { $0.users += 1 }
        let types = ["email-disabled", "email-enabled", "email-disabled", "consent-revoked"]
        for (step, type) in types.enumerated() {
            try? await Task.sleep(for: pause)
            guard !isClosed, let payload = try? Self.notification(type, step, of: subject) else { return }
            _ = await send { try await $0.notify(payload) }
        }
    }

    private func send(_ call: (Backend) async throws -> Backend.Response) async -> Bool {
        guard let backend = backend(), let response = try? await call(backend) else { return false }
        return response.status < 300
    }

    private static func notification(_ type: String, _ step: Int, of subject: String) throws -> String {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let event = JSONObject([
            ("type", .string(type)), ("sub", .string(subject)),
            ("email", .string("\(subject)@relay.example")), ("is_private_email", .string("true")),
            ("event_time", .integer(now)),
        ])
        var claims = TokenMint.notificationClaims(at: now / 1000, event: event)
        claims["jti"] = .string("jti-\(subject)-\(step)")
        return try TokenMint.shared.sign(claims)
    }
}
