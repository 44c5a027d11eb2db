public import AppleAccounts
public import AuthorizationServer

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
