public import AppleAccounts

/// The nonces that earlier versions minted and stored. No new rows are made.
public struct NonceTable: Table {
    public static let name = "nonce"

    public let digest: Column<NonceDigest>
    public let expiresAt: Column<Moment>
    public let isUsed: Column<Bool>

    public init(_ columns: inout ColumnList) {
        digest = columns("digest", .operational)
        expiresAt = columns("expires_at", .operational)
        isUsed = columns("is_used", .operational)
    }
}

/// The digests of the nonces that sign-ins have used up.
public struct UsedNonceTable: Table {
    public static let name = "used_nonce"

    public let digest: Column<NonceDigest>
    public let keptUntil: Column<Moment>

    public init(_ columns: inout ColumnList) {
        digest = columns("digest", .operational)
        keptUntil = columns("kept_until", .operational)
    }
}

/// The key that authenticates nonces: at most one row.
public struct NonceKeyTable: Table {
    public static let name = "nonce_key"

    public let id: Column<Int64>
    public let bytes: Column<[UInt8]>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        bytes = columns("bytes", .secret)
    }
}
