import AppleAccounts
import AppleIDClient
import Synchronization

/// Power for one process: it fails between two steps that the test chooses, and from there on nothing that
/// the process does has any effect.
final class Fuse: Sendable {
    struct Blown: Error {}

    private struct State {
        var crossed: [String] = []
        var holds: Int
        var outage = 0
    }

    private let state: Mutex<State>

    /// - Parameter holds: How many points are passed before it blows; for ever by default.
    init(holds: Int = .max) {
        state = Mutex(State(holds: holds))
    }

    /// The points that were passed, in order: before and after each step outside of the process.
    var crossed: [String] { state.withLock { $0.crossed } }

    /// The next so many steps fail, and then there is power again.
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
            // A failure is an answer too, and can get lost as well.
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

/// Apple, as a process with a fuse reaches it.
struct FusedApple: AppleTokenService {
    let apple: any AppleTokenService
    let fuse: Fuse

    func exchange(
        code: String, clientID: String, redirectURI: String?
    ) async throws(AppleCallError) -> TokenGrant {
        try await step("exchange") {
            try await apple.exchange(code: code, clientID: clientID, redirectURI: redirectURI)
        }
    }

    func validate(refreshToken: String, clientID: String) async throws(AppleCallError) -> TokenGrant {
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
