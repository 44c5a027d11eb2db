/// One step of the schema. Never edited after release.
struct Migration: Sendable {
    /// 1 for the first migration, without gaps.
    let number: Int
    /// The oldest schema number that a running service may know and still work on this schema. As long as a
    /// migration only adds columns and tables that older services do not need, they continue while a newer
    /// service migrates.
    let minimumReader: Int
    let sql: String
}
