/// What the answer of `/auth/token` is made from, read from the world in one go so that signing needs no lock.
struct TokenBasis {
    let identity: IdentityTokenBasis
    let authorization: Authorization
    let accessToken: String
    /// `nil` in the answer to a refresh grant.
    let refreshToken: String?
    /// Milliseconds since 1970.
    let now: Int64
}
