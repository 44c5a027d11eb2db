import AppleAccounts
import KeySets
import SQLTables

// Tables of the service that no erasure reaches: they hold nothing that leads to a person.

/// The one-time secrets of the web flow, by their digests. A payload is sealed, and its row goes within
/// minutes.
struct TicketTable: Table {
    static let name = "ticket"

    let purpose: Column<TicketPurpose>
    let digest: Column<TicketDigest>
    let payload: Column<[UInt8]>
    let expiresAt: Column<Moment>

    init(_ columns: inout ColumnList) {
        purpose = columns("purpose", .operational)
        digest = columns("digest", .secret)
        payload = columns("payload", .secret)
        expiresAt = columns("expires_at", .operational)
    }
}

extension TicketTable {
    func bind(_ ticket: Ticket, to statement: PreparedStatement) {
        statement.bind(ticket.purpose, to: purpose)
        statement.bind(ticket.digest, to: digest)
        statement.bind(ticket.payload, to: payload)
        statement.bind(ticket.expiresAt, to: expiresAt)
    }
}

/// The last good key set of Apple: at most one row.
struct KeySetSnapshotTable: Table {
    static let name = "key_set_snapshot"

    let id: Column<Int64>
    let body: Column<[UInt8]>
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

extension KeySetSnapshotTable {
    func bind(_ snapshot: KeySetSnapshot, to statement: PreparedStatement) {
        statement.bind(1, to: id)
        statement.bind(snapshot.body, to: body)
        statement.bind(snapshot.entityTag, to: entityTag)
        statement.bind(snapshot.fetchedAt, to: fetchedAt)
        statement.bind(snapshot.freshUntil, to: freshUntil)
    }
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
