/// One step of the schema. Once released it is never edited: a later migration corrects its mistakes.
struct Migration: Sendable {
    /// Counts from 1 without gaps.
    let number: Int
    /// Indicates that the migration replaces tables, and therefore must run without foreign keys. They are
    /// checked at its end.
    var rebuildsTables = false
    let sql: String
}
