/// The content of a client secret that the emulator signs. The default gives an accepted client secret.
public struct ClientSecretRecipe: Sendable {
    /// Default: the primary client ID of the first app.
    public var clientID: String?
    /// Default: the owner of the client ID.
    public var teamID: String?
    /// Default: the team's newest key whose private key is known.
    public var keyID: String?
    public var times = TokenTimes()

    public init() {
        times.lifetime = 3600
    }
}
