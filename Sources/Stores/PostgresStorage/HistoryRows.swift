import AppleAccounts
import SQLTables

/// The histories of accounts, and the payloads of the inbox.
enum HistoryRows {
    private struct Append {
        let columns: AccountHistoryTable
        /// Number of the entry among those of its account, counted from 1.
        let place: Column<Int64>
        let statement: RowStatement

        init() {
            var rows = RowParameters()
            columns = rows.add(AccountHistoryTable.self, .except { [$0.number] })
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
    private static let find = TypedQuery<AccountHistoryTable, AccountID, Int64>("find_history") {
        $0.add(AccountHistoryTable.self)
    } sql: { list, account, limit in
        """
        SELECT \(list) FROM account_history WHERE account_id = \(account)
        ORDER BY number DESC LIMIT \(limit)
        """
    }
    private static let findPayloads = TypedQuery<
        (app: Column<ClientID>, key: NotificationEventTable, notification: NotificationTable), [ClientID],
        String,
        Int64
    >("find_payloads") {
        (
            $0.add("a.name", ClientID.self, as: "app"), $0.add(NotificationEventTable.self, as: "e", .key),
            $0.add(NotificationTable.self, as: "n", .only { [$0.payload, $0.receivedAt] })
        )
    } sql: { list, apps, subject, limit in
        """
        SELECT \(list)
        FROM (SELECT id, name FROM app WHERE name = ANY (\(apps)) OFFSET 0) AS a
        CROSS JOIN LATERAL (
            SELECT \(NotificationEventTable.names()) FROM notification_event
            WHERE app_id = a.id AND sub = \(subject) ORDER BY event_time DESC LIMIT \(limit)) AS e
        JOIN notification n ON n.id = e.notification_id
        ORDER BY e.event_time DESC LIMIT \(limit)
        """
    }
    private static let findChecks = TypedQuery<
        (app: Column<ClientID>, due: Column<Moment>, unchecked: Column<Moment>), AccountID
    >("find_next_checks") {
        (
            $0.add("a.name", ClientID.self, as: "app"),
            $0.add("min(t.next_check_at)", Moment.self, as: "due"),
            $0.add("min(t.unchecked_since)", Moment.self, as: "unchecked")
        )
    } sql: { list, account in
        """
        SELECT \(list) FROM refresh_token t JOIN app a ON a.id = t.app_id WHERE t.account_id = \(account)
        GROUP BY a.name
        """
    }
    private static let remove = TypedStatement<AccountID>("erase_history") {
        "DELETE FROM account_history WHERE account_id = \($0)"
    }
    private static let purgeOld = TypedStatement<Moment, Int64>("purge_history") { end, limit in
        """
        DELETE FROM account_history WHERE (account_id, number) IN (
            SELECT account_id, number FROM account_history WHERE recorded_at < \(end)
            ORDER BY recorded_at LIMIT \(limit)
            FOR UPDATE SKIP LOCKED)
        """
    }

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
            row.set(append.columns.appID, try names.apps.ensuredNumber(of: entry.clientID))
            row.set(append.place, place)
        }
    }

    static func removal(of id: AccountID) -> PostgresCall { remove(id) }

    static func entries(of id: AccountID, limit: Int, in session: PostgresSession) throws -> [HistoryEntry] {
        try session.run(find.statement(id, Int64(limit))).map { row in
            try find.columns.entry(
                row,
                clientID: session.names.apps.name(of: row.required(find.columns.appID), in: session))
        }
    }

    static func payloads(
        about subject: AppleSubject, for clientIDs: Set<ClientID>, limit: Int, in session: PostgresSession
    ) throws -> [KeptPayload] {
        let columns = findPayloads.columns
        return try session.run(
            findPayloads.statement(Array(clientIDs), subject.rawValue, Int64(limit))
        ).map { row in
            KeptPayload(
                clientID: try row.required(columns.app), type: try row.required(columns.key.type),
                moment: try row.required(columns.key.eventTime),
                receivedAt: try row.required(columns.notification.receivedAt),
                payload: try row.required(columns.notification.payload))
        }
    }

    static func nextChecks(of id: AccountID, in session: PostgresSession) throws -> [ClientID:
        PlannedCheck]
    {
        let columns = findChecks.columns
        return try session.run(findChecks.statement(id)).reduce(into: [:]) { checks, row in
            checks[try row.required(columns.app)] = PlannedCheck(
                next: try row.required(columns.due), uncheckedSince: row[columns.unchecked])
        }
    }

    static func purge(before moment: Moment, limit: Int, in session: PostgresSession) throws -> Int {
        try session.run(purgeOld(moment, Int64(limit))).affected
    }
}
