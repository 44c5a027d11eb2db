/// The claims that identity tokens and notifications share (RFC 7519 §4.1), read and typed but not yet
/// checked.
protocol AppleClaims: Sendable {
    var issuer: String { get }
    var audience: Audience { get }
    var expiresAt: NumericDate { get }
    var issuedAt: NumericDate { get }
    /// `nbf`. Apple does not send it so far.
    var notBefore: NumericDate? { get }
}

/// `aud` (RFC 7519 §4.1.3).
enum Audience: Sendable, Equatable {
    /// One string: the only form that Apple sends.
    case one(String)
    /// The array form, of any length, also with one string. Apple never sends it.
    case several
}
