/// An access token of a person. It opens nothing at Apple but `/auth/revoke`.
struct IssuedAccessToken: Equatable, Codable {
    let clientID: String
    /// Milliseconds since 1970.
    let issuedAt: Int64
}
