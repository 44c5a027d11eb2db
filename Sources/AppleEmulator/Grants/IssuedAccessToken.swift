/// An access token of a user. Apple accepts it only at `/auth/revoke`.
struct IssuedAccessToken: Equatable, Codable {
    let clientID: String
    /// Milliseconds since 1970.
    let issuedAt: Int64
}
