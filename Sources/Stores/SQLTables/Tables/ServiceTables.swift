public import AppleAccounts
public import AuthorizationServer
public import KeySets

// Service tables that no erasure changes, because no column identifies a user.

/// The table of the web flow's one-time secrets, by digest. The payload is sealed, and the row is deleted
/// within minutes.
public typealias TicketTable = RecordTable<Ticket>

extension Ticket: StoredRecord {
    public static var table: String { "ticket" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        let purpose = try column.code("purpose", .operational, \.purpose)
        return Ticket(
            digest: try column("digest", .secret, \.digest), purpose: purpose,
            payload: try column("payload", .secret, \.payload, .length(0...4096)),
            expiresAt: try column("expires_at", .operational, \.expiresAt))
    }
}

/// The table of Apple's last valid key set: at most one row.
public typealias KeySetSnapshotTable = RecordTable<KeySetSnapshot>

extension KeySetSnapshot: StoredRecord {
    public static var table: String { "key_set_snapshot" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        _ = try column.part("id", .operational, .range(1...1)) { _ in 1 as Int64 }
        return KeySetSnapshot(
            body: try column("body", .operational, \.body, .length(1...1048576)),
            entityTag: try column("entity_tag", .operational, \.entityTag),
            fetchedAt: try column("fetched_at", .operational, \.fetchedAt),
            freshUntil: try column("fresh_until", .operational, \.freshUntil))
    }
}

extension ColumnChoice where T == KeySetSnapshotTable {
    public static var values: Self { except { [$0["id", Int64.self]] } }
}

/// The table of the row that tests whether the database accepts writes: at most one row.
public struct HealthProbeTable: Table {
    public static let name = "health_probe"

    public let id: Column<Int64>
    public let count: Column<Int64>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required, .range(1...1))
        count = columns("count", .operational, .required)
    }
}

/// The table of the keys that sign this service's tokens. They belong to no user.
public typealias SigningKeyTable = RecordTable<SigningKeyRecord>

extension SigningKeyRecord: StoredRecord {
    public static var table: String { "signing_key" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        SigningKeyRecord(
            keyID: try column("key_id", .operational, \.keyID, .length(1...255)),
            algorithm: try column("algorithm", .operational, \.algorithm, .length(1...16)),
            sealed: try column("sealed", .secret, \.sealed),
            publicKey: try column("public_key", .operational, \.publicKey, .length(1...16384)),
            createdAt: try column("created_at", .operational, \.createdAt),
            signsFrom: try column("signs_from", .operational, \.signsFrom),
            retiresAt: try column("retires_at", .operational, \.retiresAt))
    }
}

/// The table of used nonces' digests.
public struct UsedNonceTable: Table {
    public static let name = "used_nonce"

    public let digest: Column<NonceDigest>
    public let keptUntil: Column<Moment>

    public init(_ columns: inout ColumnList) {
        digest = columns("digest", .operational, .required)
        keptUntil = columns("kept_until", .operational, .required)
    }
}

/// The table of the key that authenticates nonces: at most one row.
public struct NonceKeyTable: Table {
    public static let name = "nonce_key"

    public let id: Column<Int64>
    public let bytes: Column<[UInt8]>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required, .range(1...1))
        bytes = columns("bytes", .secret, .required, .length(32...32))
    }
}
