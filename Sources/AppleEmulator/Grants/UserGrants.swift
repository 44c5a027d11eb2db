/// The codes and tokens of one user for one client ID, and the number of requests since the start or the last
/// reset of the counters.
public struct UserGrants: Sendable, Equatable {
    public let clientID: String
    /// Codes that have not been exchanged, including expired ones that were not used.
    public let codes: Int
    /// Valid refresh tokens.
    public let refreshTokens: Int
    /// Codes exchanged.
    public let exchanges: Int
    /// Successful refresh grants.
    public let refreshes: Int
    /// Throttled refresh grants.
    public let throttled: Int
}
