import AppleAccounts
import SQLTables

/// The nonces that sign-ins have used up, by their digests, and those that earlier versions minted.
enum NonceRows {
    /// The two look-ups, with the same columns. A nonce that a sign-in has used up has no expiry here.
    private struct Find {
        let find: TypedStatement<[NonceDigest]>
        // A used nonce that is inserted needs no lock: of two transactions that insert the same nonce, the
        // second waits for the first, and fails when the first has committed.
        let lock: TypedStatement<[NonceDigest]>
        let columns: NonceTable

        init() {
            var stored = SelectList()
            columns = stored.add(NonceTable.self, as: "n")
            find = TypedStatement("find_nonces") { digests in
                Self.usedAnd(digests, "SELECT \(stored) FROM unnest(\(digests)) AS k (digest)")
                    + " JOIN nonce AS n ON n.digest = k.digest"
            }
            lock = TypedStatement("lock_nonces") { digests in
                Self.usedAnd(
                    digests,
                    """
                    SELECT \(stored) FROM unnest(\(digests)) AS k (digest)
                    CROSS JOIN LATERAL (
                        SELECT \(NonceTable.names()) FROM nonce WHERE digest = k.digest FOR UPDATE) AS n
                    """)
            }
        }

        /// The used nonces in the form of `NonceTable`, then the stored ones.
        private static func usedAnd(_ digests: Parameter<[NonceDigest]>, _ stored: String) -> String {
            """
            SELECT u.digest, NULL::bigint AS expires_at, true AS is_used
            FROM unnest(\(digests)) AS k (digest) JOIN used_nonce AS u ON u.digest = k.digest
            UNION ALL
            \(stored)
            """
        }
    }

    private struct Insert {
        let columns: UsedNonceTable
        let statement: RowStatement

        init() {
            var rows = RowParameters()
            columns = rows.add(UsedNonceTable.self)
            statement = RowStatement(
                "insert_used_nonces", rows,
                "INSERT INTO used_nonce (\(rows.names)) SELECT * FROM \(rows.unnest)")
        }
    }

    private static let find = Find()
    private static let insert = Insert()
    private static let use = TypedStatement<[NonceDigest]>("use_nonces") {
        "UPDATE nonce SET is_used = true WHERE digest = ANY (\($0))"
    }
    private static let useUnused = TypedStatement<[NonceDigest], Int64>("use_unused_nonces") {
        digests, count in
        """
        WITH used AS (
            UPDATE nonce AS n SET is_used = true FROM unnest(\(digests)) AS k (digest)
            WHERE n.digest = k.digest AND NOT n.is_used RETURNING 1)
        SELECT expect_rows(count(*), \(count)) FROM used
        """
    }

    /// - Parameter locking: Prevents other transactions from using nonces of earlier versions until this
    ///   transaction ends.
    static func findCall(_ digests: [NonceDigest], locking: Bool) -> PostgresCall? {
        guard !digests.isEmpty else { return nil }
        return (locking ? find.lock : find.find)(inOrder(digests))
    }

    static func load(_ rows: PostgresRows, into set: inout WorkingSet) {
        for row in rows {
            guard let digest = row[find.columns.digest] else { continue }
            if let expiresAt = row[find.columns.expiresAt] {
                set.load(
                    NonceRecord(
                        digest: digest, expiresAt: expiresAt, isUsed: row[find.columns.isUsed] == true))
            } else {
                set.load(usedNonce: digest)
            }
        }
    }

    /// In a transaction that has locked those of earlier versions.
    static func useCalls(_ set: WorkingSet) -> [PostgresCall] {
        let stored = set.usedStoredNonces
        let storedCall = stored.isEmpty ? nil : use(inOrder(stored))
        return [insertCall(set.usedNonces), storedCall].compactMap { $0 }
    }

    /// Returns statements for a transaction without locks. They abort it when a nonce was used in the
    /// meantime.
    static func useUnusedCalls(_ set: WorkingSet) -> [PostgresCall] {
        let stored = set.usedStoredNonces
        let storedCall = stored.isEmpty ? nil : useUnused(inOrder(stored), Int64(stored.count))
        return [insertCall(set.usedNonces), storedCall].compactMap { $0 }
    }

    private static func insertCall(_ nonces: [UsedNonce]) -> PostgresCall? {
        guard !nonces.isEmpty else { return nil }
        let ordered = nonces.sorted { $0.digest.digest.lexicographicallyPrecedes($1.digest.digest) }
        return insert.statement.call(ordered) { nonce, row in
            row.set(insert.columns.digest, nonce.digest)
            row.set(insert.columns.keptUntil, nonce.keptUntil)
        }
    }

    /// Returns the digests in the order in which all replicas lock them, without duplicates.
    private static func inOrder(_ digests: [NonceDigest]) -> [NonceDigest] {
        Set(digests).sorted { $0.digest.lexicographicallyPrecedes($1.digest) }
    }
}
