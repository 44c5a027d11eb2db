/// A response of Apple as it was received. Its content has not been checked.
struct AppleAnswer: Sendable, Equatable {
    let status: Int
    /// Empty for a 5xx, whose body is not read.
    let body: [UInt8]
    /// `Retry-After` in seconds, at most an hour. The form with a date is ignored.
    var retryAfter: Duration?

    /// In bytes: far more than any response of Apple has.
    static let longestBody = 262_144

    static func retryAfter(_ header: String?) -> Duration? {
        guard let header, let seconds = Int64(header), seconds >= 0 else { return nil }
        return .seconds(min(seconds, 3600))
    }
}
