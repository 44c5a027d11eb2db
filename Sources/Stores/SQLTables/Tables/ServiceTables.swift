public import AppleAccounts
public import AuthorizationServer
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

/// The keys that sign tokens of this service. They belong to no user.
public struct SigningKeyTable: Table {
    public static let name = "signing_key"

    public let keyID: Column<String>
    public let algorithm: Column<String>
    public let sealed: Column<SealedSecret>
    public let publicKey: Column<[UInt8]>
    public let createdAt: Column<Moment>
    public let signsFrom: Column<Moment>
    public let retiresAt: Column<Moment>

    public init(_ columns: inout ColumnList) {
        keyID = columns("key_id", .operational, .required, .length(1...255))
        algorithm = columns("algorithm", .operational, .required, .length(1...16))
        sealed = columns("sealed", .secret, .required)
        publicKey = columns("public_key", .operational, .required, .length(1...16384))
        createdAt = columns("created_at", .operational, .required)
        signsFrom = columns("signs_from", .operational, .required)
        retiresAt = columns("retires_at", .operational, .required)
    }
}

extension SigningKeyTable {
    @inlinable public func write(_ key: SigningKeyRecord, to row: some WritableRow) {
        row.set(keyID, key.keyID)
        row.set(algorithm, key.algorithm)
        row.set(sealed, key.sealed)
        row.set(publicKey, key.publicKey)
        row.set(createdAt, key.createdAt)
        row.set(signsFrom, key.signsFrom)
        row.set(retiresAt, key.retiresAt)
    }

    @inlinable public func key(_ row: some ReadableRow) throws(StorageError) -> SigningKeyRecord {
        SigningKeyRecord(
            keyID: try row.required(keyID), algorithm: try row.required(algorithm),
            sealed: try row.required(sealed), publicKey: try row.required(publicKey),
            createdAt: try row.required(createdAt), signsFrom: try row.required(signsFrom),
            retiresAt: try row.required(retiresAt))
    }
}

/// The digests of the nonces that sign-ins have used up.
public struct UsedNonceTable: Table {
    public static let name = "used_nonce"

    public let digest: Column<NonceDigest>
    public let keptUntil: Column<Moment>

    public init(_ columns: inout ColumnList) {
        digest = columns("digest", .operational, .required)
        keptUntil = columns("kept_until", .operational, .required)
    }
}

/// The key that authenticates nonces: at most one row.
public struct NonceKeyTable: Table {
    public static let name = "nonce_key"

    public let id: Column<Int64>
    public let bytes: Column<[UInt8]>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required, .range(1...1))
        bytes = columns("bytes", .secret, .required, .length(32...32))
    }
}
