/// The data for a response of `/auth/token`, read under one lock, so that signing needs no lock.
struct TokenBasis {
    let identity: IdentityTokenBasis
    let authorization: Authorization
    let accessToken: String
    /// `nil` in the response to a refresh grant.
    let refreshToken: String?
    /// Milliseconds since 1970.
    let now: Int64
}
