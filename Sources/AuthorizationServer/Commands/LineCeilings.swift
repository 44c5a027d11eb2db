/// The most lines with a refresh token. Beyond it the oldest ends.
public struct LineCeilings: Sendable, Hashable {
    /// For one OAuth client and account.
    public let perClient: Int
    /// For one account over all native clients; `nil` for other clients. A link with Google never counts.
    public let perAccount: Int?

    public init(perClient: Int, perAccount: Int?) {
        (self.perClient, self.perAccount) = (perClient, perAccount)
    }
}
