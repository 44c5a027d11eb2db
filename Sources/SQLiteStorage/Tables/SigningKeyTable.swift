import AppleAccounts
import AuthorizationServer
import SQLTables

/// The keys that sign tokens of this service. They belong to no person.
struct SigningKeyTable: Table {
    static let name = "signing_key"

    let keyID: Column<String>
    let algorithm: Column<String>
    let sealed: Column<SealedSecret>
    let publicKey: Column<[UInt8]>
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
    func bind(_ key: SigningKeyRecord, to statement: PreparedStatement) {
        statement.bind(key.keyID, to: keyID)
        statement.bind(key.algorithm, to: algorithm)
        statement.bind(key.sealed, to: sealed)
        statement.bind(key.publicKey, to: publicKey)
        statement.bind(key.createdAt, to: createdAt)
        statement.bind(key.signsFrom, to: signsFrom)
        statement.bind(key.retiresAt, to: retiresAt)
    }

    func key(_ row: PreparedStatement) throws(StorageError) -> SigningKeyRecord {
        SigningKeyRecord(
            keyID: try row.required(keyID), algorithm: try row.required(algorithm),
            sealed: try row.required(sealed), publicKey: try row.required(publicKey),
            createdAt: try row.required(createdAt), signsFrom: try row.required(signsFrom),
            retiresAt: try row.required(retiresAt))
    }
}
