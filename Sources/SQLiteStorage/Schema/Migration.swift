/// One step of the schema. Once released it is never edited: a later migration corrects its mistakes.
struct Migration: Sendable {
    /// Counts from 1 without gaps.
    let number: Int
    /// Whether it puts new tables in the place of old ones, and therefore must run without foreign keys. They
    /// are checked when it is through.
    var rebuildsTables = false
    let sql: String
}
