/// The times of a token, in seconds.
public struct TokenTimes: Sendable, Equatable {
    /// Bounds of all times: 1970 to the end of the year 9999. Other times can be set with `Forgery.claims`.
    public static let bounds: ClosedRange<Int64> = 0...253_402_300_799

    /// Seconds added to the clock, for tokens from the past or the future.
    public var offset: Int64 = 0
    /// `iat`, instead of the clock and the offset.
    public var issuedAt: Int64?
    /// `exp` minus `iat`.
    public var lifetime: Int64 = 86_400

    public init() {}

    /// Returns `iat` and `exp`, without overflow.
    func resolved(nowMilliseconds: Int64) -> (issuedAt: Int64, expiresAt: Int64) {
        let issuedAt = self.issuedAt ?? Self.sum(nowMilliseconds / 1000, offset)
        return (issuedAt, Self.sum(issuedAt, lifetime))
    }

    private static func sum(_ lhs: Int64, _ rhs: Int64) -> Int64 {
        let (sum, overflow) = lhs.addingReportingOverflow(rhs)
        return overflow ? (rhs < 0 ? .min : .max) : sum
    }
}
