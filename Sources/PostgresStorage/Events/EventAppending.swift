import AppleAccounts
import SQLTables

/// The account events of a transaction, which are appended at its end.
///
/// Their numbers come from one row, which stays locked until the commit: the next transaction gets the next
/// numbers when these events can be seen, and the same numbers when they never will be. So nothing in the
/// transaction may wait for anything behind it.
struct EventAppending {
    /// Listeners on this channel hear the number of the last event.
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

    /// Hangs the events of the time when there was no account on another row, as those stored before are.
    mutating func moveEventsWithoutAccount(from rowID: Int64, to newRowID: Int64) {
        for index in events.indices where events[index].rowID == rowID && events[index].event.accountID == nil
        {
            events[index].rowID = newRowID
        }
    }

    /// Its result has one row, with the number of the last event.
    func call(_ names: PostgresNames) throws -> PostgresCall {
        let columns = Self.append.columns
        return try Self.append.statement.call(events) { item, row in
            columns.write(item.event, to: row)
            row.set(columns.subjectID, item.rowID)
            row.set(columns.appID, try item.event.clientID.map { try names.apps.ensuredNumber(of: $0) })
        }
    }

    /// The number of the last event, in the result of `call`.
    static func lastSequence(in rows: PostgresRows) throws(StorageError) -> Int64? {
        try rows.requireEventCounter()[append.lastSequence]
    }
}
