import Synchronization

/// The value of the `Date` header field (RFC 9110 §5.6.7), made once per second.
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
            if last.second != second { last = (second, Self.format(CivilTime(secondsSince1970: second))) }
            return last.text
        }
    }

    private static func format(_ time: CivilTime) -> String {
        var bytes: [UInt8] = []
        bytes.append(contentsOf: "\(days[time.weekday]), ".utf8)
        time.appendTwoDigits(time.day, to: &bytes)
        bytes.append(contentsOf: " \(months[time.month - 1]) ".utf8)
        time.appendTwoDigits(time.year / 100, to: &bytes)
        time.appendTwoDigits(time.year % 100, to: &bytes)
        bytes.append(UInt8(ascii: " "))
        time.appendClock(to: &bytes)
        bytes.append(contentsOf: " GMT".utf8)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
