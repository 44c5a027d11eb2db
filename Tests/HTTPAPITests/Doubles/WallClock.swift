import Synchronization

/// A wall clock that the test moves. Milliseconds since 1970.
final class WallClock: Sendable {
    private let milliseconds: Mutex<Int64>

    init(_ milliseconds: Int64) {
        self.milliseconds = Mutex(milliseconds)
    }

    var now: Int64 { milliseconds.withLock { $0 } }

    func advance(seconds: Int64) {
        milliseconds.withLock { $0 += seconds * 1000 }
    }
}
