public import AppleAccounts
import SQLTables

/// Reads the event feed.
enum EventReader {
    /// The query for all callers, and the query for callers limited to some apps, which has an additional
    /// last column.
    private struct Find {
        let columns: EventColumns
        let isAllowed: Column<Bool>
        let all: TypedStatement<Int64, Int64>
        let allowed: TypedStatement<Int64, Int64, [ClientID]>
        /// The query for one account's events. It always has the additional column.
        let ofAccount: TypedStatement<AccountID, Int64, Int64, [ClientID]>
        let lastOfAccount: TypedStatement<AccountID, Int64, Int64, [ClientID]>

        init() {
            var list = SelectList()
            columns = EventColumns(&list)
            let withoutApps = list
            isAllowed = list.add(Self.isAllowed, Bool.self, as: "is_allowed")
            let withApps = list
            ofAccount = TypedStatement("find_events_of_account") { account, start, limit, apps in
                Self.ofAccount(withApps, account, "> \(start)", "", limit, apps)
            }
            lastOfAccount = TypedStatement("find_last_events_of_account") { account, start, limit, apps in
                Self.ofAccount(withApps, account, "< \(start)", "DESC", limit, apps)
            }
            all = TypedStatement("find_events") { start, limit in
                "SELECT \(withoutApps) \(Self.rows(after: start, limit: limit))"
            }
            allowed = TypedStatement("find_allowed_events") { start, limit, apps in
                """
                WITH allowed AS MATERIALIZED (
                    SELECT array_agg(id) AS apps FROM app WHERE name = ANY (\(apps)))
                SELECT \(list) \(Self.rows(after: start, limit: limit))
                """
            }
        }

        private static func ofAccount(
            _ list: SelectList, _ account: Parameter<AccountID>, _ condition: String, _ order: String,
            _ limit: Parameter<Int64>, _ apps: Parameter<[ClientID]>
        ) -> String {
            """
            WITH allowed AS MATERIALIZED (
                SELECT array_agg(id) AS apps FROM app WHERE name = ANY (\(apps)))
            SELECT \(list)
            FROM (
                SELECT \(EventTable.names()) FROM event
                WHERE account_id = \(account) AND account_id IS NOT NULL AND sequence \(condition)
                ORDER BY sequence \(order) LIMIT \(limit)) AS e
            JOIN subject s ON s.id = e.subject_id
            ORDER BY e.sequence \(order)
            """
        }

        private static func rows(after start: Parameter<Int64>, limit: Parameter<Int64>) -> String {
            """
            FROM (
                SELECT \(EventTable.names()) FROM event
                WHERE sequence > \(start) ORDER BY sequence LIMIT \(limit)) AS e
            JOIN subject s ON s.id = e.subject_id
            ORDER BY e.sequence
            """
        }

        // The same statement reads the app numbers, because otherwise the first events of a newly added app
        // would never be shown. Each subquery has a LIMIT and reads one table, so that the planner leaves it
        // unchanged. The planner can turn EXISTS, or a join with an initially empty table, into a scan of all
        // rows.
        private static let isAllowed = """
            CASE
            WHEN e.app_id IS NOT NULL THEN e.app_id = ANY ((SELECT apps FROM allowed)::integer[])
            ELSE coalesce(
                (SELECT true FROM credential AS c
                    WHERE c.subject_id = e.subject_id AND c.app_id = ANY ((SELECT apps FROM allowed)::integer[])
                    LIMIT 1),
                (SELECT true FROM erasure_app AS a
                    WHERE a.erasure_id = (SELECT id FROM erasure WHERE account_id = e.account_id)
                        AND a.app_id = ANY ((SELECT apps FROM allowed)::integer[])
                    LIMIT 1))
            END
            """
    }

    private static let find = Find()

    static func page(
        after sequence: Int64, limit: Int, visibleTo scope: AppScope, in session: PostgresSession
    ) throws -> EventPage {
        let end = end(limit, scope)
        let call =
            switch scope {
            case .all: find.all(sequence, end)
            case .only: find.allowed(sequence, end, scope.listed)
            }
        return try page(session.run(call), after: sequence, limit: limit, visibleTo: scope, session)
    }

    /// Returns an account's next events.
    static func page(
        of id: AccountID, after sequence: Int64, limit: Int, visibleTo scope: AppScope,
        in session: PostgresSession
    ) throws -> EventPage {
        let call = find.ofAccount(id, sequence, end(limit, scope), scope.listed)
        return try page(session.run(call), after: sequence, limit: limit, visibleTo: scope, session)
    }

    /// Returns an account's last events, newest first.
    static func last(
        of id: AccountID, limit: Int, visibleTo scope: AppScope, in session: PostgresSession
    ) throws -> [AccountEvent] {
        let call = find.lastOfAccount(id, .max, end(limit, scope), scope.listed)
        return try page(session.run(call), after: .max, limit: limit, visibleTo: scope, session).events
    }

    /// An extra row shows that more events follow.
    private static func end(_ limit: Int, _ scope: AppScope) -> Int64 {
        Int64(scope.scan(forPageOf: limit)) + 1
    }

    private static func page(
        _ rows: PostgresRows, after sequence: Int64, limit: Int, visibleTo scope: AppScope,
        _ session: PostgresSession
    ) throws -> EventPage {
        var rows = rows.makeIterator()
        let names = session.names
        return try find.columns.page(after: sequence, limit: limit, scan: scope.scan(forPageOf: limit)) {
            rows.next()
        } event: { row in
            guard scope == .all || row[find.isAllowed] == true else { return nil }
            return try find.columns.event(row) {
                try names.teams.name(of: $0, in: session)
            } app: {
                try names.apps.name(of: $0, in: session)
            }
        }
    }
}

extension AppScope {
    /// The client IDs of a limited caller's apps.
    fileprivate var listed: [ClientID] {
        switch self {
        case .all: []
        case .only(let clientIDs): Array(clientIDs)
        }
    }
}

extension PostgresAccountStore {
    public func events(
        of id: AccountID, after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage {
        try await pool.run {
            try EventReader.page(of: id, after: sequence, limit: limit, visibleTo: scope, in: $0)
        }
    }

    public func lastEvents(of id: AccountID, limit: Int, visibleTo scope: AppScope) async throws
        -> [AccountEvent]
    {
        try await pool.run {
            try EventReader.last(of: id, limit: limit, visibleTo: scope, in: $0)
        }
    }
}

/// A transaction's account events, appended at its end.
///
/// Event numbers come from one row, which stays locked until the commit. If the transaction commits, the next
/// transaction gets the next numbers once these events are visible; if it rolls back, the next transaction
/// gets the same numbers. No later statement of the transaction may wait for another transaction, because
/// every other transaction with events would then wait too.
struct EventAppending {
    /// The channel on which listeners receive the last event's number.
    static let channel = "siwa_events"

    private static let append = RowWrite<(event: EventTable, subject: Column<Int64>, app: Column<Int64>)>(
        "append_events"
    ) {
        let event = $0.add(EventTable.self, .except { [$0.sequence] })
        return (event, event["subject_id", Int64.self], event["app_id", Int64.self])
    } sql: { rows, _ in
        """
        WITH counter AS (
            UPDATE event_counter SET last_sequence = last_sequence + \(rows.rowCount) WHERE id = 1
            RETURNING last_sequence),
        added AS (
            INSERT INTO event (sequence, \(rows.names))
            -- Without the counter there is no number, which the table refuses, and nothing is committed.
            SELECT (SELECT last_sequence FROM counter) - \(rows.rowCount) + e.place, \(rows.names.of("e"))
            FROM \(rows.unnest) WITH ORDINALITY AS e (\(rows.names), place))
        SELECT last_sequence, pg_notify('\(channel)', last_sequence::text) FROM counter
        """
    }
    /// The first result column of `append`.
    private static let lastSequence: Column<Int64> = {
        var list = SelectList()
        return list.add("last_sequence", Int64.self, as: "last_sequence")
    }()

    private var events: [(event: AccountEvent, rowID: Int64)] = []

    var isEmpty: Bool { events.isEmpty }

    mutating func add(_ event: AccountEvent, rowID: Int64) {
        events.append((event, rowID))
    }

    /// Moves events without an account to another row, just as the stored events are moved.
    mutating func moveEventsWithoutAccount(from rowID: Int64, to newRowID: Int64) {
        for index in events.indices where events[index].rowID == rowID && events[index].event.accountID == nil
        {
            events[index].rowID = newRowID
        }
    }

    /// Returns the call that appends the events. Its result has one row, with the last event's number.
    func call(_ names: PostgresNames) throws -> PostgresCall {
        let columns = Self.append.columns
        return try Self.append.statement.call(events) { item, row in
            columns.event.write(item.event, to: row)
            row.set(columns.subject, item.rowID)
            row.set(columns.app, try item.event.clientID.map { try names.apps.ensuredNumber(of: $0) })
        }
    }

    /// Returns the last event's number from the result of `call`.
    static func lastSequence(in rows: PostgresRows) throws(StorageError) -> Int64? {
        try rows.requireEventCounter()[lastSequence]
    }
}

extension PostgresRows {
    /// Returns the row of `event_counter`, which always has exactly one row.
    ///
    /// - Throws: `StorageError` `corrupted` if the table is empty, which only a manual change can cause.
    func requireEventCounter() throws(StorageError) -> PostgresRow {
        guard count == 1, let row = first else {
            throw StorageError(
                .corrupted, detail: "expected one row in event_counter, found \(count); restore a backup")
        }
        return row
    }
}
