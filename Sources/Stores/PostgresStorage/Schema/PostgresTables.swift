package import SQLTables

/// Every table of the schema, with its columns and their classification. Tests compare this list with the
/// schema and with the erasures.
package enum DeclaredTables {
    package static let all =
        SharedTables.all + [
            SubjectTable.declaration, CredentialTable.declaration, EventCounterTable.declaration,
            SchemaVersionTable.declaration,
        ]
}

/// A table with one row: the last event's number.
struct EventCounterTable: Table {
    static let name = "event_counter"

    let id: Column<Int64>
    let lastSequence: Column<Int64>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required, .range(1...1))
        lastSequence = columns("last_sequence", .operational, .required, .range(0...Int64.max))
    }
}

/// The table of completed migrations.
struct SchemaVersionTable: Table {
    static let name = "siwa_schema"

    let version: Column<Int64>
    let minimumReader: Column<Int64>
    /// Time by the server's clock, for operators. The service never reads it.
    let appliedAt: Column<String>

    init(_ columns: inout ColumnList) {
        version = columns("version", .operational, .required)
        minimumReader = columns("minimum_reader", .operational, .required)
        appliedAt = columns("applied_at", .operational, .required)
    }
}
