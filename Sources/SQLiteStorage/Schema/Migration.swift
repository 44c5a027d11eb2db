/// One step of the schema. Once released it is never edited: what is wrong with it is put right by the next
/// one.
struct Migration: Sendable {
    /// Counts from 1 without gaps.
    let number: Int
    let sql: String
}
