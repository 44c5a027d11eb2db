/// An access token of a team, from the `client_credentials` grant, for `/auth/usermigrationinfo`.
struct MigrationToken: Equatable, Codable {
    let teamID: String
    let clientID: String
    /// Milliseconds since 1970.
    let issuedAt: Int64
}
