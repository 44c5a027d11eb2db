public import AppleAccounts

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
