import AppleAccounts
import Cryptography
import SQLTables

/// A transaction's audit log entries, which are appended near its end.
///
/// Their numbers and hashes come from one row, `audit_chain`, which stays locked until the commit, just as
/// event numbers come from `event_counter`. The transaction locks the chain before the counter, so a sign-in
/// that appends events but no audit entry never waits behind a transaction that is waiting for the chain.
/// PostgreSQL computes the hashes, so the lock costs no round trip.
struct AuditAppending {
    private static let append = RowWrite<(table: AuditTable, canonical: Column<[UInt8]>)>("append_audit") {
        ($0.add(AuditTable.self, .entry), $0.add("canonical", [UInt8].self))
    } sql: { rows, columns in
        let names = AuditTable.names(.entry)
        return """
            WITH RECURSIVE head AS MATERIALIZED (
                SELECT last_sequence, last_hash FROM audit_chain WHERE id = 1),
            chain (place, hash) AS (
                SELECT 0::bigint, last_hash FROM head
                UNION ALL
                SELECT c.place + 1, sha256(c.hash || int8send((SELECT last_sequence FROM head) + c.place + 1)
                    || (\(rows.array(columns.canonical)))[c.place + 1])
                FROM chain AS c WHERE c.place < \(rows.rowCount)),
            added AS (
                INSERT INTO audit (sequence, hash, \(names))
                -- Without the chain there is neither number nor hash, which the table refuses.
                SELECT (SELECT last_sequence FROM head) + e.place, c.hash, \(names.of("e"))
                FROM \(rows.unnest) WITH ORDINALITY AS e (\(rows.names), place)
                LEFT JOIN chain AS c ON c.place = e.place)
            UPDATE audit_chain SET last_sequence = last_sequence + \(rows.rowCount),
                last_hash = (SELECT hash FROM chain ORDER BY place DESC LIMIT 1)
            WHERE id = 1
            """
    }
    // The lock is a separate statement, so that the next statement sees the commits that the lock waited for.
    private static let lock = PostgresCall(
        PostgresStatement(
            "lock_audit_chain", "SELECT last_sequence FROM audit_chain WHERE id = 1 FOR NO KEY UPDATE"))

    private var entries: [SealedAuditEntry] = []

    init() {}

    init(_ entries: [AuditEntry]) { add(entries) }

    mutating func add(_ new: [AuditEntry]) {
        guard !new.isEmpty else { return }
        var generator = SystemRandomNumberGenerator()
        entries += new.map { SealedAuditEntry($0, using: &generator) }
    }

    /// Drops an erased user from the transaction's own entries. Stored entries are cleared by the statements
    /// that clear the user's other rows.
    mutating func forget(_ account: AccountID) {
        for index in entries.indices where entries[index].person?.account == account {
            entries[index] = entries[index].withoutPerson
        }
    }

    /// The calls that append the entries; empty if there are no entries.
    var calls: [PostgresCall] {
        guard !entries.isEmpty else { return [] }
        // PostgreSQL computes the link to the previous entry, so the statement has no column for the link.
        return [Self.lock]
            + Self.append.calls(entries) {
                $0.table.write(AuditRow($1, link: .beginning), to: $2)
                $2.set($0.canonical, $1.canonicalBytes)
            }
    }
}
