import AppleAccounts

/// The date of an HTTP header in its one present form, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Seconds since 1970, or `nil` for any other form.
    static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ").map(String.init)
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT",
            let month = months.firstIndex(of: parts[2])
        else { return nil }
        let number = month + 1 < 10 ? "0\(month + 1)" : "\(month + 1)"
        return Moment(rfc3339: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z").map {
            $0.milliseconds / 1000
        }
    }
}
