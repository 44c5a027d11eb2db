public import AppleAccounts

extension PostgresAccountStore: NonceKeyStore {
    private static let findKey = PostgresCall(
        PostgresStatement("find_nonce_key", "SELECT bytes FROM nonce_key WHERE id = 1"))
    private static let insertKey = PostgresStatement(
        "insert_nonce_key",
        "INSERT INTO nonce_key (id, bytes) VALUES (1, $1::bytea) ON CONFLICT (id) DO NOTHING")

    private static let purgeUsed = PostgresStatement(
        "purge_used_nonces",
        """
        DELETE FROM used_nonce WHERE digest IN (
            SELECT digest FROM used_nonce WHERE kept_until < $1::bigint ORDER BY kept_until LIMIT $2::bigint
            FOR UPDATE SKIP LOCKED)
        """)
    private static let purgeStored = PostgresStatement(
        "purge_nonces",
        """
        DELETE FROM nonce WHERE digest IN (
            SELECT digest FROM nonce WHERE expires_at < $1::bigint ORDER BY expires_at LIMIT $2::bigint
            FOR UPDATE SKIP LOCKED)
        """)

    public func nonceKey(offering candidate: NonceKey) async throws -> NonceKey {
        try await pool.run { session in
            // Read first, so that a server which takes no writes now, as in a switch-over, does as well.
            if let key = try Self.key(in: session) { return key }
            _ = try session.run(PostgresCall(Self.insertKey, [.bytes(candidate.bytes)]))
            guard let key = try Self.key(in: session) else {
                throw StorageError(.corrupted, detail: "there is no nonce key")
            }
            return key
        }
    }

    private static func key(in session: PostgresSession) throws -> NonceKey? {
        let rows = try session.run(findKey)
        return rows.count == 0 ? nil : rows.bytes(0, 0).flatMap { NonceKey($0) }
    }

    public func purgeNonces(expiredBefore moment: Moment) async throws -> Int {
        let end = moment.advanced(byMilliseconds: -NonceRecord.keptAfterExpiry)
        let limit = PostgresValue.integer(Int64(Self.largestPurge))
        return try await pool.run { session in
            let used = try session.run(PostgresCall(Self.purgeUsed, [.moment(moment), limit])).affected
            return try used + session.run(PostgresCall(Self.purgeStored, [.moment(end), limit])).affected
        }
    }
}
