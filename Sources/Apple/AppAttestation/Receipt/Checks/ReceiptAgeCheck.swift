import Encodings

/// Refuses a receipt that was not made just now (fields 12 and 21): an old receipt has an old metric.
struct ReceiptAgeCheck: Sendable {
    /// Apple's 5 minutes, in milliseconds.
    static let longest: Int64 = 300_000
    /// Clocks may differ by a minute.
    static let leeway: Int64 = 60_000

    /// - Parameter now: Milliseconds since 1970.
    func check(_ content: ReceiptContent, at now: Int64) throws(ReceiptError) {
        let times = now - Self.longest...now + Self.leeway
        guard times.contains(content.createdAt) else {
            throw ReceiptError(
                .notFresh, found: "created at \(RFC3339.text(milliseconds: content.createdAt))",
                expected: "created within 5 minutes before \(Self.text(now))")
        }
        guard content.expiresAt > now else {
            throw ReceiptError(
                .expired, found: "expires at \(RFC3339.text(milliseconds: content.expiresAt))",
                expected: "a time after \(Self.text(now))")
        }
    }

    private static func text(_ milliseconds: Int64) -> String {
        // The range of the text's years.
        (0...253_402_300_799_999).contains(milliseconds)
            ? RFC3339.text(milliseconds: milliseconds) : "another time"
    }
}
