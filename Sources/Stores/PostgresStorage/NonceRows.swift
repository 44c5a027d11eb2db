import AppleAccounts
import SQLTables

/// Finds and inserts the digests of used nonces.
///
/// A nonce needs no lock: if two transactions insert the same digest, the second waits for the first, and
/// fails once the first has committed.
enum NonceRows {
    private static let find = TypedQuery<Column<NonceDigest>, [NonceDigest]>("find_used_nonces") {
        $0.add(UsedNonceTable.self, as: "u", .only { [$0.digest] }).digest
    } sql: { list, digests in
        """
        SELECT \(list) FROM unnest(\(digests)) AS k (digest) JOIN used_nonce AS u ON u.digest = k.digest
        """
    }
    private static let insert = RowWrite<UsedNonceTable>(inserting: "insert_used_nonces")

    static func findCall(_ digests: [NonceDigest]) -> PostgresCall? {
        digests.isEmpty ? nil : find.statement(Array(Set(digests)))
    }

    static func load(_ rows: PostgresRows, into set: inout WorkingSet) {
        for row in rows {
            if let digest = row[find.columns] { set.load(usedNonce: digest) }
        }
    }

    /// Returns the insertion of a batch's nonces; `nil` if there are none. All replicas insert in the same
    /// order, so that two transactions with the same nonces cannot deadlock.
    static func insertCall(_ set: WorkingSet) -> PostgresCall? {
        let ordered = set.usedNonces.sorted { $0.digest.digest.lexicographicallyPrecedes($1.digest.digest) }
        return insert.calls(ordered) {
            $2.set($0.digest, $1.digest)
            $2.set($0.keptUntil, $1.keptUntil)
        }.first
    }
}
