/// `aud` (RFC 7519 §4.1.3).
enum Audience: Sendable, Equatable {
    /// One string: the only form that Apple sends.
    case one(String)
    /// The array form, whatever is in it. Apple never sends it.
    case several
}
