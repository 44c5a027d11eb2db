import Synchronization

/// The acknowledged changes of a fleet's replicas, and their wrong responses.
final class FleetLedger: Sendable {
    struct User: Sendable {
        let subject: String
        let accountID: String
        var isRevoked = false
        var isErased = false
        /// A request without a response, which may have been executed.
        var isUncertain = false
    }

    /// A used nonce, with its sign-in.
    struct UsedNonce: Sendable {
        let nonce: String
        let token: String
    }

    struct Counts: Sendable {
        var newUsers = 0
        var returns = 0
        var revocations = 0
        var erasures = 0
        var queries = 0
        /// Number of nonces that were used twice at the same time, with one use refused.
        var refusedNonces = 0

        var acknowledged: Int { newUsers + returns + revocations + erasures }
    }

    private struct State {
        var users: [String: User] = [:]
        var nonces: [UsedNonce] = []
        var counts = Counts()
        var contradictions: [String] = []
        var isClosed = false
    }

    private let state = Mutex(State())

    var users: [User] { state.withLock { Array($0.users.values) } }
    var nonces: [UsedNonce] { state.withLock(\.nonces) }
    var counts: Counts { state.withLock(\.counts) }
    /// The errors; empty when there are none.
    var contradictions: [String] { state.withLock(\.contradictions) }

    /// True if no new work may begin.
    var isClosed: Bool { state.withLock(\.isClosed) }

    func close() {
        state.withLock { $0.isClosed = true }
    }

    func note(_ user: User) {
        state.withLock { $0.users[user.subject] = user }
    }

    func note(_ nonce: UsedNonce) {
        state.withLock { $0.nonces.append(nonce) }
    }

    func count(_ change: @Sendable (inout Counts) -> Void) {
        state.withLock { change(&$0.counts) }
    }

    func contradict(_ text: String) {
        state.withLock { $0.contradictions.append(text) }
    }
}
