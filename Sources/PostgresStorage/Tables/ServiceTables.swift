import AppleAccounts
import SQLTables

// Tables of the service that no erasure reaches: they hold nothing that leads to a person.

/// The one-time secrets of the web flow, by their digests. A payload is sealed, and its row goes within
/// minutes.
struct TicketTable: Table {
    static let name = "ticket"

    let purpose: Column<TicketPurpose>
    let digest: Column<TicketDigest>
    let payload: Column<ByteString>
    let expiresAt: Column<Moment>

    init(_ columns: inout ColumnList) {
        purpose = columns("purpose", .operational)
        digest = columns("digest", .secret)
        payload = columns("payload", .secret)
        expiresAt = columns("expires_at", .operational)
    }
}

/// The last good key set of Apple: at most one row.
struct KeySetSnapshotTable: Table {
    static let name = "key_set_snapshot"

    let id: Column<Int64>
    let body: Column<ByteString>
    let entityTag: Column<String>
    let fetchedAt: Column<Int64>
    let freshUntil: Column<Int64>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        body = columns("body", .operational)
        entityTag = columns("entity_tag", .operational)
        fetchedAt = columns("fetched_at", .operational)
        freshUntil = columns("fresh_until", .operational)
    }
}

extension ColumnChoice where T == KeySetSnapshotTable {
    static var values: Self { except { [$0.id] } }
}

/// Written to find out whether the database takes writes: at most one row.
struct HealthProbeTable: Table {
    static let name = "health_probe"

    let id: Column<Int64>
    let count: Column<Int64>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        count = columns("count", .operational)
    }
}

/// Which migrations ran.
struct SchemaVersionTable: Table {
    static let name = "siwa_schema"

    let version: Column<Int64>
    let minimumReader: Column<Int64>
    /// By the clock of the server, for operators. The service never reads it.
    let appliedAt: Column<String>

    init(_ columns: inout ColumnList) {
        version = columns("version", .operational)
        minimumReader = columns("minimum_reader", .operational)
        appliedAt = columns("applied_at", .operational)
    }
}
