import Synchronization

/// A mark that this process is about to stop. `GET /readyz` then responds with 503, so that load balancers
/// send new requests elsewhere, while every request is still served.
final class Draining: Sendable {
    private let mark = Atomic(false)

    var hasBegun: Bool { mark.load(ordering: .relaxed) }

    func begin() { mark.store(true, ordering: .relaxed) }
}
