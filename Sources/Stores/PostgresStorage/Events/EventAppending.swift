import AppleAccounts
import SQLTables

/// The account events of a transaction, which are appended at its end.
///
/// Their numbers come from one row, which stays locked until the commit. If the transaction commits, the next
/// transaction gets the next numbers once these events are visible; if it rolls back, the next transaction
/// gets the same numbers. So no later statement of the transaction may wait for another transaction.
struct EventAppending {
    /// Channel on which listeners receive the number of the last event.
    static let channel = "siwa_events"

    private struct Append {
        let columns: EventTable
        let lastSequence: Column<Int64>
        let statement: RowStatement

        init() {
            var rows = RowParameters()
            columns = rows.add(EventTable.self, .except { [$0.sequence] })
            var list = SelectList()
            lastSequence = list.add("last_sequence", Int64.self, as: "last_sequence")
            statement = RowStatement(
                "append_events", rows,
                """
                WITH counter AS (
                    UPDATE event_counter SET last_sequence = last_sequence + \(rows.rowCount) WHERE id = 1
                    RETURNING last_sequence),
                added AS (
                    INSERT INTO event (sequence, \(rows.names))
                    -- Without the counter there is no number, which the table refuses, and nothing is committed.
                    SELECT (SELECT last_sequence FROM counter) - \(rows.rowCount) + e.place, \(rows.names.of("e"))
                    FROM \(rows.unnest) WITH ORDINALITY AS e (\(rows.names), place))
                SELECT \(list), pg_notify('\(channel)', last_sequence::text) FROM counter
                """)
        }
    }

    private static let append = Append()

    private var events: [(event: AccountEvent, rowID: Int64)] = []

    var isEmpty: Bool { events.isEmpty }

    mutating func add(_ event: AccountEvent, rowID: Int64) {
        events.append((event, rowID))
    }

    /// Moves events from the time without an account to another row, as is done with stored events.
    mutating func moveEventsWithoutAccount(from rowID: Int64, to newRowID: Int64) {
        for index in events.indices where events[index].rowID == rowID && events[index].event.accountID == nil
        {
            events[index].rowID = newRowID
        }
    }

    /// Returns the call that appends the events. Its result has one row, with the number of the last event.
    func call(_ names: PostgresNames) throws -> PostgresCall {
        let columns = Self.append.columns
        return try Self.append.statement.call(events) { item, row in
            columns.write(item.event, to: row)
            row.set(columns.subjectID, item.rowID)
            row.set(columns.appID, try item.event.clientID.map { try names.apps.ensuredNumber(of: $0) })
        }
    }

    /// Returns the number of the last event from the result of `call`.
    static func lastSequence(in rows: PostgresRows) throws(StorageError) -> Int64? {
        try rows.requireEventCounter()[append.lastSequence]
    }
}
