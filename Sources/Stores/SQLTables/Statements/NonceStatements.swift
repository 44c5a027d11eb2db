public import AppleAccounts

/// Statements for the nonce key, and for deleting old used nonces; for both databases.
private enum NonceStatements {
    static let findKey = SQLStatement<Void>("find_nonce_key") { _ in
        "SELECT bytes FROM nonce_key WHERE id = 1"
    }
    static let insertKey = SQLInsertion<NonceKeyTable>(
        "insert_nonce_key", conflict: "ON CONFLICT (id) DO NOTHING")
    static let purge = UsedNonceTable.purge(by: "digest", before: "kept_until")
}

extension NonceKeyStore where Self: SQLStore {
    public func nonceKey(offering candidate: NonceKey) async throws -> NonceKey {
        try await once { session in
            func stored() throws -> NonceKey? {
                try session.value(NonceStatements.findKey(), as: [UInt8].self).flatMap { NonceKey($0) }
            }
            // The key is read first, so that the call also succeeds on a server that temporarily refuses
            // writes, as during a switchover.
            if let key = try stored() { return key }
            try session.run(
                NonceStatements.insertKey {
                    $1.set($0.id, 1)
                    $1.set($0.bytes, candidate.bytes)
                })
            guard let key = try stored() else {
                throw StorageError(
                    .corrupted,
                    detail:
                        "expected the nonce key that was just stored, found none of 32 bytes; restore a backup"
                )
            }
            return key
        }
    }
}

extension AccountStore where Self: SQLStore {
    public func purgeNonces(expiredBefore moment: Moment) async throws -> Int {
        try await purge(NonceStatements.purge, before: moment)
    }
}
