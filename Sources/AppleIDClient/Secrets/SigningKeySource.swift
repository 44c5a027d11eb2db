/// Where the keys come from with which client secrets are signed.
public protocol SigningKeySource: Sendable {
    /// The keys of a team as they are now, the newest first; empty when there is none. Does not wait for anything slower
    /// than a file.
    func keys(ofTeam team: String) -> [ClientSigningKey]
}
