import AppleAccounts
import SQLTables

/// Appends to the histories of accounts.
enum HistoryRows {
    private struct Append {
        let columns: AccountHistoryTable
        let app: Column<Int64>
        /// Number of the entry among those of its account, counted from 1.
        let place: Column<Int64>
        let statement: RowStatement

        init() {
            var rows = RowParameters()
            columns = rows.add(AccountHistoryTable.self, .except { [$0["number", Int64.self]] })
            app = columns["app_id", Int64.self]
            let names = rows.names
            place = rows.add("place", Int64.self)
            // The row that goes is found by its key: each new number has exactly one. If two replicas append to one
            // account at once, the key refuses the second transaction, which is repeated.
            statement = RowStatement(
                "append_history", rows,
                """
                WITH added AS (
                    INSERT INTO account_history (number, \(names))
                    SELECT coalesce((
                            SELECT h.number FROM account_history AS h WHERE h.account_id = n.account_id
                            ORDER BY h.number DESC LIMIT 1), 0) + n.place, \(names.of("n"))
                    FROM \(rows.relation("n"))
                    RETURNING account_id, number)
                DELETE FROM account_history AS old USING added
                WHERE added.number > \(HistoryEntry.mostPerAccount) AND old.account_id = added.account_id
                    AND old.number = added.number - \(HistoryEntry.mostPerAccount)
                """)
        }
    }

    private static let append = Append()

    /// Returns `nil` without entries.
    static func appendCall(_ set: WorkingSet, _ names: PostgresNames) throws -> PostgresCall? {
        guard !set.history.isEmpty else { return nil }
        // In one order, so that two replicas cannot wait for each other.
        let entries = set.history.enumerated().sorted {
            ($0.element.accountID.uniqueID, $0.offset) < ($1.element.accountID.uniqueID, $1.offset)
        }
        var (last, place): (AccountID?, Int64) = (nil, 0)
        return try append.statement.call(entries) { item, row in
            let entry = item.element
            place = entry.accountID == last ? place + 1 : 1
            last = entry.accountID
            append.columns.write(entry, to: row)
            row.set(append.app, try names.apps.ensuredNumber(of: entry.clientID))
            row.set(append.place, place)
        }
    }
}
