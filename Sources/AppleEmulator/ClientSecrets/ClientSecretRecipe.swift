/// A client secret to be signed with a key that the emulator made. The empty recipe gives one that is accepted.
public struct ClientSecretRecipe: Sendable {
    /// The primary client ID of the first app when absent.
    public var clientID: String?
    /// The owner of the client ID when absent.
    public var teamID: String?
    /// The team's newest key whose private half is here when absent.
    public var keyID: String?
    public var times = TokenTimes()

    public init() {
        times.lifetime = 3600
    }
}
