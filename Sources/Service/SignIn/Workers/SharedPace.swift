import AppleAccounts
import Synchronization

/// The pace of a worker, whose pieces run at the same time.
package final class SharedPace: Sendable {
    package struct Admission: Sendable {
        package let count: Int
        /// Time until more may be claimed.
        package let wait: Duration
    }

    private let pace: Mutex<ApplePace>

    init(_ pace: ApplePace) {
        self.pace = Mutex(pace)
    }

    func update<Value: Sendable>(_ body: (inout ApplePace) -> Value) -> Value {
        pace.withLock { body(&$0) }
    }

    /// - Parameter least: The number of pieces for which it is worth to look again.
    func admit(upTo limit: Int, least: Int, at moment: Moment) -> Admission {
        update { pace in
            let count = pace.admit(upTo: limit, at: moment)
            return Admission(count: count, wait: pace.wait(for: least, at: moment))
        }
    }
}
