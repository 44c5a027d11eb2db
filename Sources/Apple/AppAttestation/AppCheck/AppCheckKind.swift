/// Kind of a request by its proof. Every request that App Check judges has exactly one.
public enum AppCheckKind: String, Sendable, CaseIterable {
    /// With a proof that holds.
    case verified
    /// Without a proof, from a version of the app that does not make proofs yet.
    case outdatedApp = "outdated_app"
    /// Without a proof, and not from such a version.
    case unknownOrigin = "unknown_origin"
    /// With a proof that does not hold.
    case invalid
}
