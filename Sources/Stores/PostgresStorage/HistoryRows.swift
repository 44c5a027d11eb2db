import AppleAccounts
import SQLTables

/// Appends to account histories.
enum HistoryRows {
    /// The statement's columns. `place` is an entry's position among the new entries of its account, counted
    /// from 1.
    private typealias Columns = (table: AccountHistoryTable, app: Column<Int64>, place: Column<Int64>)

    // The deleted row is found by its key, which is derived from the new entry's number. If two replicas
    // append to one account concurrently, the unique key makes the second transaction fail, so the service
    // repeats it.
    private static let append = RowWrite<Columns>("append_history") {
        let table = $0.add(AccountHistoryTable.self, .except { [$0["number", Int64.self]] })
        return (table, table["app_id", Int64.self], $0.add("place", Int64.self))
    } sql: { rows, _ in
        let names = AccountHistoryTable.names(.except { [$0["number", Int64.self]] })
        return """
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
            """
    }

    /// Returns the call that appends the entries; `nil` if there are none.
    static func appendCall(_ set: WorkingSet, _ names: PostgresNames) throws -> PostgresCall? {
        guard !set.history.isEmpty else { return nil }
        // All replicas append in the same order, so that two replicas cannot deadlock.
        let entries = set.history.enumerated().sorted {
            ($0.element.accountID.uniqueID, $0.offset) < ($1.element.accountID.uniqueID, $1.offset)
        }
        var (last, place): (AccountID?, Int64) = (nil, 0)
        return try append.statement.call(entries) { item, row in
            let entry = item.element
            place = entry.accountID == last ? place + 1 : 1
            last = entry.accountID
            append.columns.table.write(entry, to: row)
            row.set(append.columns.app, try names.apps.ensuredNumber(of: entry.clientID))
            row.set(append.columns.place, place)
        }
    }
}
