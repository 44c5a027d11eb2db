/// Provides the keys that sign client secrets.
public protocol SigningKeySource: Sendable {
    /// Returns the current keys of a team, the newest first; empty when there is none. It may read local
    /// files, but does nothing slower.
    func keys(ofTeam team: String) -> [ClientSigningKey]
}
