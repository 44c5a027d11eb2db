/// Compares the times of a token with our clock (RFC 7519 §4.1.4 to §4.1.6), for tokens of every issuer.
///
/// All times are seconds since 1970 within the years 1970 to 9999, so that no sum can overflow.
public struct TokenTimeCheck: Sendable, Hashable {
    /// Seconds that the issuer's clock may differ from ours.
    public let leeway: Int64

    public init(leeway: Int64) {
        self.leeway = leeway
    }

    /// Returns true before `exp` plus the leeway.
    public func isUnexpired(_ expiresAt: Int64, at now: Int64) -> Bool { now < expiresAt + leeway }

    /// Returns true from `nbf` minus the leeway on, and without `nbf`.
    public func isValid(notBefore: Int64?, at now: Int64) -> Bool {
        notBefore.map { $0 <= now + leeway } ?? true
    }

    /// Returns true if a time of the past, such as `iat` and `auth_time`, is not ahead of our clock by more
    /// than the leeway.
    public func isPast(_ moment: Int64, at now: Int64) -> Bool { moment <= now + leeway }
}
