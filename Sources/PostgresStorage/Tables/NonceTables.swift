import AppleAccounts
import SQLTables

/// The nonces that earlier versions minted and stored. No new rows are made.
struct NonceTable: Table {
    static let name = "nonce"

    let digest: Column<NonceDigest>
    let expiresAt: Column<Moment>
    let isUsed: Column<Bool>

    init(_ columns: inout ColumnList) {
        digest = columns("digest", .operational)
        expiresAt = columns("expires_at", .operational)
        isUsed = columns("is_used", .operational)
    }
}

/// The digests of the nonces that sign-ins have used up.
struct UsedNonceTable: Table {
    static let name = "used_nonce"

    let digest: Column<NonceDigest>
    let keptUntil: Column<Moment>

    init(_ columns: inout ColumnList) {
        digest = columns("digest", .operational)
        keptUntil = columns("kept_until", .operational)
    }
}

/// The key that authenticates nonces: at most one row.
struct NonceKeyTable: Table {
    static let name = "nonce_key"

    let id: Column<Int64>
    let bytes: Column<ByteString>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        bytes = columns("bytes", .secret)
    }
}
