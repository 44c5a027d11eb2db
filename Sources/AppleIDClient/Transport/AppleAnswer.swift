/// What came back from Apple: transport only, nothing of it is believed yet.
struct AppleAnswer: Sendable, Equatable {
    let status: Int
    /// Empty for a 5xx, which nobody reads.
    let body: [UInt8]
    /// `Retry-After` in seconds, at most an hour. The form with a date is not read.
    var retryAfter: Duration?

    /// Far more than any answer of Apple's.
    static let longestBody = 262_144

    static func retryAfter(_ header: String?) -> Duration? {
        guard let header, let seconds = Int64(header), seconds >= 0 else { return nil }
        return .seconds(min(seconds, 3600))
    }
}
