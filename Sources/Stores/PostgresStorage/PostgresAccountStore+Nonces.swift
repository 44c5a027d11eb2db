public import AppleAccounts

extension PostgresAccountStore: NonceKeyStore {
    private static let findKey = PostgresCall(
        PostgresStatement("find_nonce_key", "SELECT bytes FROM nonce_key WHERE id = 1"))
    private static let insertKey = TypedStatement<ByteString>("insert_nonce_key") {
        "INSERT INTO nonce_key (id, bytes) VALUES (1, \($0)) ON CONFLICT (id) DO NOTHING"
    }

    private static let purgeUsed = TypedStatement<Moment, Int64>("purge_used_nonces") { end, limit in
        """
        DELETE FROM used_nonce WHERE digest IN (
            SELECT digest FROM used_nonce WHERE kept_until < \(end) ORDER BY kept_until LIMIT \(limit)
            FOR UPDATE SKIP LOCKED)
        """
    }

    public func nonceKey(offering candidate: NonceKey) async throws -> NonceKey {
        try await pool.run { session in
            // Read first, so that a server that refuses writes at the moment, as in a switch-over, also
            // works.
            if let key = try Self.key(in: session) { return key }
            _ = try session.run(Self.insertKey(ByteString(candidate.bytes)))
            guard let key = try Self.key(in: session) else {
                throw StorageError(
                    .corrupted,
                    detail:
                        "expected the nonce key that was just stored, found none of 32 bytes; restore a backup"
                )
            }
            return key
        }
    }

    private static func key(in session: PostgresSession) throws -> NonceKey? {
        try session.run(findKey).onlyValue(as: [UInt8].self).flatMap { NonceKey($0) }
    }

    public func purgeNonces(expiredBefore moment: Moment) async throws -> Int {
        try await pool.run { try $0.run(Self.purgeUsed(moment, Int64(Self.largestPurge))).affected }
    }
}
