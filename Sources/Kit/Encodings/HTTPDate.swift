/// The date of an HTTP field in the preferred format, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
package enum HTTPDate {
    package static func text(secondsSince1970 seconds: Int64) -> String {
        let time = CivilTime(secondsSince1970: seconds)
        let date = "\(padded(time.day)) \(months[Int(time.month) - 1]) \(time.year)"
        return
            "\(days[time.weekday]), \(date) \(padded(time.hour)):\(padded(time.minute)):\(padded(time.second)) GMT"
    }

    /// Returns seconds since 1970, or `nil` for any other format.
    package static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ").map(String.init)
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT",
            let month = months.firstIndex(of: parts[2])
        else { return nil }
        let date = "\(parts[3])-\(padded(Int64(month) + 1))-\(parts[1])"
        return RFC3339.milliseconds(of: "\(date)T\(parts[4])Z").map { $0 / 1000 }
    }

    private static func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
