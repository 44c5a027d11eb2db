public import AppleAccounts
import SQLTables

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

/// The nonces that sign-ins have used up, by their digests.
///
/// A nonce needs no lock. Of two transactions that insert the same digest the second waits for the first, and fails
/// when the first has committed.
enum NonceRows {
    private static let find = TypedQuery<Column<NonceDigest>, [NonceDigest]>("find_used_nonces") {
        $0.add(UsedNonceTable.self, as: "u", .only { [$0.digest] }).digest
    } sql: { list, digests in
        """
        SELECT \(list) FROM unnest(\(digests)) AS k (digest) JOIN used_nonce AS u ON u.digest = k.digest
        """
    }
    private static let insert = TableWrite<UsedNonceTable>(inserting: "insert_used_nonces")

    static func findCall(_ digests: [NonceDigest]) -> PostgresCall? {
        digests.isEmpty ? nil : find.statement(Array(Set(digests)))
    }

    static func load(_ rows: PostgresRows, into set: inout WorkingSet) {
        for row in rows {
            if let digest = row[find.columns] { set.load(usedNonce: digest) }
        }
    }

    /// Inserts in one order, so that two replicas with the same nonces do not wait for each other.
    static func insertCall(_ set: WorkingSet) -> PostgresCall? {
        guard !set.usedNonces.isEmpty else { return nil }
        let ordered = set.usedNonces.sorted { $0.digest.digest.lexicographicallyPrecedes($1.digest.digest) }
        return insert.statement.call(ordered) { nonce, row in
            row.set(insert.columns.digest, nonce.digest)
            row.set(insert.columns.keptUntil, nonce.keptUntil)
        }
    }
}
