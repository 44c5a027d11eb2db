import AppleAccounts

/// The nonces that this service minted, by their digests.
enum NonceRows {
    private static let find = PostgresStatement(
        "find_nonces",
        """
        SELECT n.digest, n.expires_at, n.is_used FROM unnest($1::bytea[]) AS k (digest)
        JOIN nonce AS n ON n.digest = k.digest
        """)

    private static let lock = PostgresStatement(
        "lock_nonces",
        """
        SELECT n.* FROM unnest($1::bytea[]) AS k (digest)
        CROSS JOIN LATERAL (
            SELECT digest, expires_at, is_used FROM nonce WHERE digest = k.digest FOR UPDATE) AS n
        """)

    private static let insert = PostgresStatement(
        "insert_nonces",
        """
        INSERT INTO nonce (digest, expires_at, is_used)
        SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::boolean[])
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

    /// - Parameter locking: Whether nobody else is to use them until the transaction ends.
    static func findCall(_ digests: [NonceDigest], locking: Bool) -> PostgresCall? {
        guard !digests.isEmpty else { return nil }
        return PostgresCall(locking ? lock : find, [inOrder(digests)])
    }

    static func load(_ rows: PostgresRows, into set: inout WorkingSet) {
        for row in 0..<rows.count {
            guard let digest = rows.bytes(row, 0).flatMap({ NonceDigest($0) }),
                let expiresAt = rows.moment(row, 1)
            else { continue }
            set.load(NonceRecord(digest: digest, expiresAt: expiresAt, isUsed: rows.boolean(row, 2) == true))
        }
    }

    static func insertCall(_ nonces: [NonceRecord]) -> PostgresCall? {
        guard !nonces.isEmpty else { return nil }
        let ordered = nonces.sorted { $0.digest.bytes.lexicographicallyPrecedes($1.digest.bytes) }
        return PostgresCall(
            insert,
            [
                .byteStrings(ordered.map(\.digest.bytes)), .moments(ordered.map(\.expiresAt)),
                .booleans(ordered.map(\.isUsed)),
            ])
    }

    /// Of nonces that are locked.
    static func useCall(_ digests: [NonceDigest]) -> PostgresCall? {
        digests.isEmpty ? nil : PostgresCall(use, [inOrder(digests)])
    }

    /// Of nonces that are not locked. Ends the transaction when one of them was used meanwhile.
    static func useUnusedCall(_ digests: [NonceDigest]) -> PostgresCall? {
        digests.isEmpty ? nil : PostgresCall(useUnused, [inOrder(digests), .integer(Int64(digests.count))])
    }

    /// The order in which all replicas lock them, and none twice.
    private static func inOrder(_ digests: [NonceDigest]) -> PostgresValue {
        .byteStrings(Set(digests).map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) })
    }
}
