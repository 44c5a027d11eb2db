public import AppleAccounts
public import KeySets

// Tables of the service that no erasure changes: no column leads to a user.

/// The one-time secrets of the web flow, by their digests. A payload is sealed, and its row is deleted within
/// minutes.
public struct TicketTable: Table {
    public static let name = "ticket"

    public let purpose: Column<TicketPurpose>
    public let digest: Column<TicketDigest>
    public let payload: Column<[UInt8]>
    public let expiresAt: Column<Moment>

    public init(_ columns: inout ColumnList) {
        purpose = columns("purpose", .operational, .required)
        digest = columns("digest", .secret, .required)
        payload = columns("payload", .secret, .required, .length(0...4096))
        expiresAt = columns("expires_at", .operational, .required)
    }
}

extension TicketTable {
    @inlinable public func write(_ ticket: Ticket, to row: some WritableRow) {
        row.set(purpose, ticket.purpose)
        row.set(digest, ticket.digest)
        row.set(payload, ticket.payload)
        row.set(expiresAt, ticket.expiresAt)
    }
}

/// The last good key set of Apple: at most one row.
public struct KeySetSnapshotTable: Table {
    public static let name = "key_set_snapshot"

    public let id: Column<Int64>
    public let body: Column<[UInt8]>
    public let entityTag: Column<String>
    public let fetchedAt: Column<Int64>
    public let freshUntil: Column<Int64>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required, .range(1...1))
        body = columns("body", .operational, .required, .length(1...1048576))
        entityTag = columns("entity_tag", .operational, .optional)
        fetchedAt = columns("fetched_at", .operational, .required)
        freshUntil = columns("fresh_until", .operational, .required)
    }
}

extension ColumnChoice where T == KeySetSnapshotTable {
    public static var values: Self { except { [$0.id] } }
}

extension KeySetSnapshotTable {
    @inlinable public func write(_ snapshot: KeySetSnapshot, to row: some WritableRow) {
        row.set(id, 1)
        row.set(body, snapshot.body)
        row.set(entityTag, snapshot.entityTag)
        row.set(fetchedAt, snapshot.fetchedAt)
        row.set(freshUntil, snapshot.freshUntil)
    }

    /// Returns `nil` for a row without a key set.
    @inlinable public func snapshot(_ row: some ReadableRow) -> KeySetSnapshot? {
        guard let body = row[body], let fetchedAt = row[fetchedAt], let freshUntil = row[freshUntil]
        else { return nil }
        return KeySetSnapshot(
            body: body, entityTag: row[entityTag], fetchedAt: fetchedAt, freshUntil: freshUntil)
    }
}

/// Written to test that the database accepts writes: at most one row.
public struct HealthProbeTable: Table {
    public static let name = "health_probe"

    public let id: Column<Int64>
    public let count: Column<Int64>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required, .range(1...1))
        count = columns("count", .operational, .required)
    }
}
