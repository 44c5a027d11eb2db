/// What one client ID holds of a person, and how often it asked, since the start or the last clearing of the counters.
public struct UserGrants: Sendable, Equatable {
    public let clientID: String
    /// Codes that nobody has exchanged; expired ones count until they are asked for.
    public let codes: Int
    /// Refresh tokens that are good.
    public let refreshTokens: Int
    /// Codes exchanged.
    public let exchanges: Int
    /// Refresh grants that were answered.
    public let refreshes: Int
    /// Refresh grants that came too soon.
    public let throttled: Int
}
