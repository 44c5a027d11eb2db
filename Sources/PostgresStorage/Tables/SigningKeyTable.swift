import AppleAccounts
import AuthorizationServer
import SQLTables

/// The keys that sign tokens of this service. They belong to no person.
struct SigningKeyTable: Table {
    static let name = "signing_key"

    let keyID: Column<String>
    let algorithm: Column<String>
    let sealed: Column<SealedSecret>
    let publicKey: Column<ByteString>
    let createdAt: Column<Moment>
    let signsFrom: Column<Moment>
    let retiresAt: Column<Moment>

    init(_ columns: inout ColumnList) {
        keyID = columns("key_id", .operational)
        algorithm = columns("algorithm", .operational)
        sealed = columns("sealed", .secret)
        publicKey = columns("public_key", .operational)
        createdAt = columns("created_at", .operational)
        signsFrom = columns("signs_from", .operational)
        retiresAt = columns("retires_at", .operational)
    }
}

extension SigningKeyTable {
    func key(_ row: PostgresRow) throws(StorageError) -> SigningKeyRecord {
        SigningKeyRecord(
            keyID: try row.required(keyID), algorithm: try row.required(algorithm),
            sealed: try row.required(sealed), publicKey: try row.required(publicKey).bytes,
            createdAt: try row.required(createdAt), signsFrom: try row.required(signsFrom),
            retiresAt: try row.required(retiresAt))
    }
}
