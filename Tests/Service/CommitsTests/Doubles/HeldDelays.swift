import Commits
import Synchronization

/// Delays that last until the test ends them.
final class HeldDelays: Sendable {
    private let state = Mutex<(count: Int, held: [@Sendable () -> Void])>((0, []))

    /// Number of delays that have begun.
    var count: Int { state.withLock { $0.count } }

    var delay: CommitDelay {
        { then in
            self.state.withLock { state in
                state.count += 1
                state.held.append(then)
            }
        }
    }

    /// Returns when this many delays have begun.
    func arrival(of number: Int) async { while count < number { await Task.yield() } }

    /// Ends the running delays.
    func letGo() {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for then in held { then() }
    }
}
