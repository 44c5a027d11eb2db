import SQLTables

/// The number of the last event: one row.
struct EventCounterTable: Table {
    static let name = "event_counter"

    let id: Column<Int64>
    let lastSequence: Column<Int64>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        lastSequence = columns("last_sequence", .operational)
    }
}

/// Migrations that ran.
struct SchemaVersionTable: Table {
    static let name = "siwa_schema"

    let version: Column<Int64>
    let minimumReader: Column<Int64>
    /// Time by the clock of the server, for operators. The service never reads it.
    let appliedAt: Column<String>

    init(_ columns: inout ColumnList) {
        version = columns("version", .operational)
        minimumReader = columns("minimum_reader", .operational)
        appliedAt = columns("applied_at", .operational)
    }
}
