/// How it ended with one of the grants of an erased account.
public enum ErasureOutcome: String, Sendable, Hashable, CaseIterable {
    /// Apple was told to revoke it, and refused it afterwards.
    case provenRevoked = "revoked_and_proven"
    /// It could not be revoked, or not be proven. The grant's cause says why.
    case notRevoked = "not_revoked"
}
