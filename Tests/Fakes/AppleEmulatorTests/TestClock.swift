import AppleEmulator
import EmulatorServer
import Synchronization

/// A clock that tests set, and whose sleeps return at once and are recorded.
final class TestClock: Sendable {
    private let state: Mutex<(now: Int64, sleeps: [Int64])>

    init(milliseconds: Int64 = 1_700_000_000_123) {
        state = Mutex((milliseconds, []))
    }

    var seconds: Int64 { state.withLock { $0.now / 1000 } }
    var milliseconds: Int64 { state.withLock { $0.now } }
    var sleeps: [Int64] { state.withLock { $0.sleeps } }

    func advance(bySeconds seconds: Int64) {
        state.withLock { $0.now += seconds * 1000 }
    }

    var emulatorClock: EmulatorClock {
        EmulatorClock(
            now: { self.milliseconds },
            sleep: { milliseconds in self.state.withLock { $0.sleeps.append(milliseconds) } })
    }
}
