import AppleAccounts

/// The nonces that sign-ins have used up, by their digests, and those that earlier versions minted.
enum NonceRows {
    private static let find = PostgresStatement(
        "find_nonces",
        """
        SELECT u.digest, NULL::bigint AS expires_at, true AS is_used FROM unnest($1::bytea[]) AS k (digest)
        JOIN used_nonce AS u ON u.digest = k.digest
        UNION ALL
        SELECT n.digest, n.expires_at, n.is_used FROM unnest($1::bytea[]) AS k (digest)
        JOIN nonce AS n ON n.digest = k.digest
        """)

    // What is used up by a row that is inserted needs no lock: of two transactions that insert the same one, the second
    // waits for the first, and fails when that has committed.
    private static let lock = PostgresStatement(
        "lock_nonces",
        """
        SELECT u.digest, NULL::bigint AS expires_at, true AS is_used FROM unnest($1::bytea[]) AS k (digest)
        JOIN used_nonce AS u ON u.digest = k.digest
        UNION ALL
        SELECT n.digest, n.expires_at, n.is_used FROM unnest($1::bytea[]) AS k (digest)
        CROSS JOIN LATERAL (
            SELECT digest, expires_at, is_used FROM nonce WHERE digest = k.digest FOR UPDATE) AS n
        """)

    private static let insert = PostgresStatement(
        "insert_used_nonces",
        """
        INSERT INTO used_nonce (digest, kept_until)
        SELECT * FROM unnest($1::bytea[], $2::bigint[])
        """)

    private static let use = PostgresStatement(
        "use_nonces", "UPDATE nonce SET is_used = true WHERE digest = ANY ($1::bytea[])")

    private static let useUnused = PostgresStatement(
        "use_unused_nonces",
        """
        WITH used AS (
            UPDATE nonce AS n SET is_used = true FROM unnest($1::bytea[]) AS k (digest)
            WHERE n.digest = k.digest AND NOT n.is_used RETURNING 1)
        SELECT expect_rows(count(*), $2::bigint) FROM used
        """)

    /// - Parameter locking: Whether nobody else is to use those of earlier versions until the transaction ends.
    static func findCall(_ digests: [NonceDigest], locking: Bool) -> PostgresCall? {
        guard !digests.isEmpty else { return nil }
        return PostgresCall(locking ? lock : find, [inOrder(digests)])
    }

    static func load(_ rows: PostgresRows, into set: inout WorkingSet) {
        for row in 0..<rows.count {
            guard let digest = rows.bytes(row, 0).flatMap({ NonceDigest($0) }) else { continue }
            if let expiresAt = rows.moment(row, 1) {
                set.load(
                    NonceRecord(
                        digest: digest, expiresAt: expiresAt, isUsed: rows.boolean(row, 2) == true))
            } else {
                set.load(usedNonce: digest)
            }
        }
    }

    /// In a transaction that has locked those of earlier versions.
    static func useCalls(_ set: WorkingSet) -> [PostgresCall] {
        let stored = set.usedStoredNonces
        let storedCall = stored.isEmpty ? nil : PostgresCall(use, [inOrder(stored)])
        return [insertCall(set.usedNonces), storedCall].compactMap { $0 }
    }

    /// In a transaction that has locked nothing, and ends when one of them was used meanwhile.
    static func useUnusedCalls(_ set: WorkingSet) -> [PostgresCall] {
        let stored = set.usedStoredNonces
        let storedCall =
            stored.isEmpty
            ? nil : PostgresCall(useUnused, [inOrder(stored), .integer(Int64(stored.count))])
        return [insertCall(set.usedNonces), storedCall].compactMap { $0 }
    }

    private static func insertCall(_ nonces: [UsedNonce]) -> PostgresCall? {
        guard !nonces.isEmpty else { return nil }
        let ordered = nonces.sorted { $0.digest.bytes.lexicographicallyPrecedes($1.digest.bytes) }
        return PostgresCall(
            insert, [.byteStrings(ordered.map(\.digest.bytes)), .moments(ordered.map(\.keptUntil))])
    }

    /// The order in which all replicas lock them, and none twice.
    private static func inOrder(_ digests: [NonceDigest]) -> PostgresValue {
        .byteStrings(Set(digests).map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) })
    }
}
