/// Sensitivity of a column's values. It decides what an erasure must remove.
public enum Sensitivity: String, Sendable, Hashable, CaseIterable {
    /// Data about a user: a name, an address, an action and its time. After an erasure no row of the user has
    /// the value: the row is deleted, or the column is NULL or has a meaningless value.
    case personal
    /// Gives its holder access at Apple or here, sealed or not: a token, a code, a key, the digest of a
    /// one-time secret. The secrets of a user are gone when the erasure is finished.
    case secret
    /// Numbers of rows, names of apps and teams, and other data that the service needs for its work. Stays.
    case operational
}
