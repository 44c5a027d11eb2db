/// What a column holds. It decides what an erasure must remove.
public enum Sensitivity: String, Sendable, Hashable, CaseIterable {
    /// Says something about a person: a name, an address, what they did and when. After an erasure no row of
    /// the person has the value any more: the row is gone, or the column is NULL or has a value that says
    /// nothing.
    case personal
    /// Gives its holder access at Apple or here, sealed or not: a token, a code, a key, the digest of a
    /// one-time secret. Those of a person are gone when the erasure is finished.
    case secret
    /// Numbers of rows, names of apps and teams, and what the service needs for its work. Stays.
    case operational
}
