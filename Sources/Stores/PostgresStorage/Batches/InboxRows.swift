import AppleAccounts
import SQLTables

/// Reads and writes the notification inbox.
struct InboxRows {
    private static let placeInRequest = { () -> (list: SelectList, place: Column<Int64>) in
        var list = SelectList()
        let place = list.add("k.place", Int64.self, as: "place")
        return (list, place)
    }()

    private static let findIdentifiers = TypedStatement<[InboxIdentifier]>("find_inbox_identifiers") {
        """
        SELECT \(placeInRequest.list) FROM unnest(\($0)) WITH ORDINALITY AS k (identifier, place)
        CROSS JOIN LATERAL (SELECT FROM notification WHERE identifier = k.identifier OFFSET 0) AS n
        """
    }

    private struct Insert {
        let notification: NotificationTable
        let key: NotificationEventTable
        /// The identifier of the notification that a key belongs to.
        let identifier: Column<InboxIdentifier>
        let statement: RowStatement

        init() {
            var notifications = RowParameters()
            notification = notifications.add(NotificationTable.self, .except { [$0.id] })
            var keys = RowParameters(after: notifications)
            identifier = keys.add("identifier", InboxIdentifier.self)
            key = keys.add(NotificationEventTable.self, .key)
            let columns = NotificationEventTable.names(.key)
            statement = RowStatement(
                "insert_notifications", keys,
                """
                WITH kept AS (
                    INSERT INTO notification (\(notifications.names)) SELECT * FROM \(notifications.unnest)
                    RETURNING id, identifier)
                INSERT INTO notification_event (\(columns), notification_id)
                SELECT \(columns.of("k")), kept.id
                FROM \(keys.relation("k"))
                JOIN kept ON kept.identifier = k.identifier
                """)
        }
    }

    private static let findKeys = RowWrite<NotificationEventTable>("find_inbox_keys", .key) { rows in
        """
        SELECT \(placeInRequest.list)
        FROM \(rows.unnest) WITH ORDINALITY AS k (\(rows.names), place)
        CROSS JOIN LATERAL (
            SELECT FROM notification_event
            WHERE app_id = k.app_id::integer AND sub = k.sub AND type = k.type
                AND event_time = k.event_time
            OFFSET 0) AS n
        """
    }
    private static let insert = Insert()

    let names: PostgresNames

    /// Returns both look-ups for a working set; empty if it has no notifications.
    func findCalls(for set: WorkingSet) throws -> [PostgresCall] {
        guard !set.inboxIdentifiers.isEmpty else { return [] }
        return [
            Self.findIdentifiers(set.inboxIdentifiers),
            try Self.findKeys.statement.call(set.inboxKeys) { key, row in
                Self.findKeys.columns.write(key, to: row)
                row.set(Self.findKeys.columns.appID, try names.apps.ensuredNumber(of: key.clientID))
            },
        ]
    }

    /// Loads both calls' results into a working set.
    func load(_ results: ArraySlice<PostgresRows>, into set: inout WorkingSet) {
        guard let identifiers = results.first, let keys = results.last, results.count == 2 else { return }
        for place in identifiers.compactMap({ $0[Self.placeInRequest.place] }) {
            set.load(inboxIdentifier: set.inboxIdentifiers[Int(place) - 1])
        }
        for place in keys.compactMap({ $0[Self.placeInRequest.place] }) {
            set.load(inboxKey: set.inboxKeys[Int(place) - 1])
        }
    }

    func insertCall(_ kept: [KeptNotification]) throws -> PostgresCall? {
        guard !kept.isEmpty else { return nil }
        // All replicas insert in the same order, so that two replicas that store the same notifications
        // cannot deadlock.
        let kept = kept.sorted { $0.command.identifier < $1.command.identifier }
        let keys = kept.flatMap { kept in kept.newInboxKeys.map { (kept.command.identifier, $0) } }
            .sorted { ($0.1.subject, $0.1.moment) < ($1.1.subject, $1.1.moment) }
        let insert = Self.insert
        return try insert.statement.call { values in
            try values.add(kept) { kept, row in
                insert.notification.write(kept, to: row)
                row.set(
                    insert.notification.appID, try names.apps.ensuredNumber(of: kept.command.clientID))
            }
            try values.add(keys) { item, row in
                let (identifier, key) = item
                insert.key.write(key, to: row)
                row.set(insert.key.appID, try names.apps.ensuredNumber(of: key.clientID))
                row.set(insert.identifier, identifier)
            }
        }
    }
}
