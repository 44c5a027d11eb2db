import AppleAccounts
import SQLTables

/// The nonces that sign-ins have used up, by their digests.
///
/// A nonce needs no lock. Of two transactions that insert the same digest the second waits for the first, and fails
/// when the first has committed.
enum NonceRows {
    private struct Find {
        let statement: TypedStatement<[NonceDigest]>
        let digest: Column<NonceDigest>

        init() {
            var list = SelectList()
            digest = list.add(UsedNonceTable.self, as: "u", .only { [$0.digest] }).digest
            statement = TypedStatement("find_used_nonces") { digests in
                """
                SELECT \(list) FROM unnest(\(digests)) AS k (digest) JOIN used_nonce AS u ON u.digest = k.digest
                """
            }
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

    static func findCall(_ digests: [NonceDigest]) -> PostgresCall? {
        digests.isEmpty ? nil : find.statement(Array(Set(digests)))
    }

    static func load(_ rows: PostgresRows, into set: inout WorkingSet) {
        for row in rows {
            if let digest = row[find.digest] { set.load(usedNonce: digest) }
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
