/// One step of the schema. Never edited after release.
struct Migration: Sendable {
    /// 1 for the first, and no gap.
    let number: Int
    /// The oldest schema number that a running service may know and still work on this one. As long as a
    /// migration only adds what older services do not miss, they go on while a newer one migrates.
    let minimumReader: Int
    let sql: String
}
