import AppleAccounts
import AppleIDClient
import Synchronization

/// Simulated power of a process. It fails between two steps that the test chooses; afterwards the process has
/// no effect.
final class Fuse: Sendable {
    struct Blown: Error {}

    private struct State {
        var crossed: [String] = []
        var holds: Int
        var outage = 0
    }

    private let state: Mutex<State>

    /// - Parameter holds: Number of points before the power fails; unlimited by default.
    init(holds: Int = .max) {
        state = Mutex(State(holds: holds))
    }

    /// The passed points, in order: before and after each step outside of the process.
    var crossed: [String] { state.withLock { $0.crossed } }

    /// Makes this many next steps fail; then the power returns.
    func flicker(_ steps: Int) {
        state.withLock { $0.outage = steps }
    }

    func step<Result>(_ name: String, _ work: () async throws -> Result) async throws -> Result {
        try flickered()
        try cross("before \(name)")
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await work())
        } catch {
            // A failure is a response too, and can get lost as well.
            result = .failure(error)
        }
        try cross("after \(name)")
        return try result.get()
    }

    private func flickered() throws {
        try state.withLock { state in
            guard state.outage > 0 else { return }
            state.outage -= 1
            throw Blown()
        }
    }

    private func cross(_ point: String) throws {
        try state.withLock { state in
            guard state.crossed.count < state.holds else { throw Blown() }
            state.crossed.append(point)
        }
    }
}

/// Apple, as reached from a process with a fuse.
struct FusedApple: AppleTokenService {
    let apple: any AppleTokenService
    let fuse: Fuse

    func exchange(
        code: String, clientID: String, redirectURI: String?
    ) async throws(AppleCallError) -> AppleTokenResponse {
        try await step("exchange") {
            try await apple.exchange(code: code, clientID: clientID, redirectURI: redirectURI)
        }
    }

    func validate(refreshToken: String, clientID: String) async throws(AppleCallError) -> AppleTokenResponse {
        try await step("validate") {
            try await apple.validate(refreshToken: refreshToken, clientID: clientID)
        }
    }

    func revoke(refreshToken: String, clientID: String) async throws(AppleCallError) {
        try await step("revoke") { try await apple.revoke(refreshToken: refreshToken, clientID: clientID) }
    }

    private func step<Result>(
        _ name: String, _ work: () async throws -> Result
    ) async throws(AppleCallError) -> Result {
        do {
            return try await fuse.step(name, work)
        } catch {
            // Which error a process without power gets does not matter: no caller reads it.
            throw error as? AppleCallError ?? AppleCallError(.connectionLost)
        }
    }
}
