import Encodings
import Synchronization

/// The value of the `Date` header field (RFC 9110 §6.6.1), made once per second.
final class DateHeader: Sendable {
    private let now: @Sendable () -> Int64
    private let last = Mutex<(second: Int64, text: String)>((Int64.min, ""))

    /// `now` gives milliseconds since 1970.
    init(now: @escaping @Sendable () -> Int64) {
        self.now = now
    }

    var text: String {
        let second = now() / 1000
        return last.withLock { last in
            if last.second != second { last = (second, HTTPDate.text(secondsSince1970: second)) }
            return last.text
        }
    }
}
