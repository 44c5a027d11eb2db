import Synchronization

/// The acknowledged changes of services with OAuth clients, and their wrong responses.
final class OAuthLedger: Sendable {
    /// A link with Google.
    struct Link: Sendable {
        enum State: Sendable {
            /// The response with the code has arrived, and the code is not redeemed.
            case code
            /// The redemption had no response: the code may be used up.
            case redemptionUncertain
            case linked
            /// The request that ends the link had no response.
            case endUncertain
            case unlinked
        }

        let code: String
        var accessToken: String?
        var refreshToken: String?
        var state = State.code
    }

    private struct State {
        var links: [Link] = []
        var phoneTokens: [(phone: String, token: String)] = []
        var acknowledged = 0
        var repeatedRotations = 0
        var contradictions: [String] = []
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Number of links in this state.
    func count(_ linkState: Link.State) -> Int { links.count { $0.state == linkState } }
    var links: [Link] { state.withLock(\.links) }
    /// The current refresh token of each lane's phone.
    var phoneTokens: [(phone: String, token: String)] { state.withLock(\.phoneTokens) }
    var acknowledged: Int { state.withLock(\.acknowledged) }
    /// Number of rotations that succeeded after a lost response.
    var repeatedRotations: Int { state.withLock(\.repeatedRotations) }
    var contradictions: [String] { state.withLock(\.contradictions) }
    var isClosed: Bool { state.withLock(\.isClosed) }

    func close() { state.withLock { $0.isClosed = true } }

    /// Adds a link of a lane in its last state.
    func add(_ link: Link) { state.withLock { $0.links.append(link) } }

    func keep(_ token: String, of phone: String) { state.withLock { $0.phoneTokens.append((phone, token)) } }

    func acknowledge() { state.withLock { $0.acknowledged += 1 } }

    func countRepeatedRotation() { state.withLock { $0.repeatedRotations += 1 } }

    func contradict(_ text: String) { state.withLock { $0.contradictions.append(text) } }
}
