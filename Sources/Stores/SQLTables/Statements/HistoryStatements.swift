public import AppleAccounts

/// Statements for account histories, except for appending, and for inbox payloads; for both databases.
public enum HistoryStatements {
    fileprivate static let find = SQLStatement<
        (entry: AccountHistoryTable, app: Column<ClientID>), AccountID, Int64
    >("find_history") {
        (
            $0.add(AccountHistoryTable.self),
            $0.add("(SELECT name FROM app WHERE id = app_id)", ClientID.self, as: "app")
        )
    } sql: { _, list, account, limit in
        """
        SELECT \(list) FROM account_history WHERE account_id = \(account)
        ORDER BY number DESC LIMIT \(limit)
        """
    }
    // A CROSS JOIN keeps SQLite from reordering the tables.
    fileprivate static let findPayloads = SQLStatement<
        (key: NotificationEventTable, notification: NotificationTable), ClientID, String, Int64
    >("find_payloads") {
        (
            $0.add(NotificationEventTable.self, as: "e", .key),
            $0.add(NotificationTable.self, as: "n", .only { [$0.payload, $0.receivedAt] })
        )
    } sql: { _, list, app, subject, limit in
        """
        SELECT \(list)
        FROM (
            SELECT \(NotificationEventTable.names()) FROM notification_event
            WHERE app_id = (SELECT id FROM app WHERE name = \(app)) AND sub = \(subject)
            ORDER BY event_time DESC LIMIT \(limit)) AS e
        CROSS JOIN notification n WHERE n.id = e.notification_id ORDER BY e.event_time DESC
        """
    }
    fileprivate static let findChecks = SQLStatement<
        (app: Column<ClientID>, due: Column<Moment>, unchecked: Column<Moment>), AccountID
    >("find_next_checks") {
        (
            $0.add("(SELECT name FROM app WHERE id = app_id)", ClientID.self, as: "app"),
            $0.add("min(next_check_at)", Moment.self, as: "due"),
            $0.add("min(unchecked_since)", Moment.self, as: "unchecked")
        )
    } sql: { _, list, account in
        "SELECT \(list) FROM refresh_token WHERE account_id = \(account) GROUP BY app_id"
    }
    public static let remove = SQLStatement<Void, AccountID>("erase_history") { _, account in
        "DELETE FROM account_history WHERE account_id = \(account)"
    }
    static let purge = AccountHistoryTable.purge(by: "account_id, number", before: "recorded_at")
}

extension AccountSearchStore where Self: SQLStore {
    public func history(of id: AccountID, limit: Int) async throws -> [HistoryEntry] {
        let (find, columns) = (HistoryStatements.find, HistoryStatements.find.columns)
        return try await snapshot { session in
            try session.rows(find(id, Int64(limit))) {
                try columns.entry.record($0, $0.required(columns.app))
            }
        }
    }

    public func nextChecks(of id: AccountID) async throws -> [ClientID: PlannedCheck] {
        let (find, columns) = (HistoryStatements.findChecks, HistoryStatements.findChecks.columns)
        return try await snapshot { session in
            let checks = try session.rows(find(id)) { row in
                let next = try row.required(columns.due)
                return (
                    try row.required(columns.app),
                    PlannedCheck(next: next, uncheckedSince: row[columns.unchecked])
                )
            }
            return Dictionary(uniqueKeysWithValues: checks)
        }
    }

    public func payloads(
        about key: SubjectKey, for clientIDs: Set<ClientID>, limit: Int
    ) async throws -> [KeptPayload] {
        let (find, columns) = (HistoryStatements.findPayloads, HistoryStatements.findPayloads.columns)
        return try await snapshot { session in
            let all = try clientIDs.sorted().flatMap { clientID in
                try session.rows(find(clientID, key.subject.rawValue, Int64(limit))) { row in
                    KeptPayload(
                        clientID: clientID, type: try row.required(columns.key.type),
                        moment: try row.required(columns.key.eventTime),
                        receivedAt: try row.required(columns.notification.receivedAt),
                        payload: try row.required(columns.notification.payload))
                }
            }
            return Array(all.sorted { $0.moment > $1.moment }.prefix(limit))
        }
    }

    public func purgeHistory(before moment: Moment) async throws -> Int {
        try await purge(HistoryStatements.purge, before: moment)
    }
}
