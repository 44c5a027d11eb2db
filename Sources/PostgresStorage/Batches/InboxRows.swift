import AppleAccounts

/// The notification inbox.
struct InboxRows {
    private static let findIdentifiers = PostgresStatement(
        "find_inbox_identifiers",
        """
        SELECT k.place FROM unnest($1::text[]) WITH ORDINALITY AS k (identifier, place)
        CROSS JOIN LATERAL (SELECT FROM notification WHERE identifier = k.identifier OFFSET 0) AS n
        """)

    private static let findKeys = PostgresStatement(
        "find_inbox_keys",
        """
        SELECT k.place
        FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[])
            WITH ORDINALITY AS k (app_id, sub, type, event_time, place)
        CROSS JOIN LATERAL (
            SELECT FROM notification_event
            WHERE app_id = k.app_id::integer AND sub = k.sub AND type = k.type AND event_time = k.event_time
            OFFSET 0) AS n
        """)

    private static let insert = PostgresStatement(
        "insert_notifications",
        """
        WITH kept AS (
            INSERT INTO notification (identifier, app_id, receipt, payload, received_at)
            SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[])
            RETURNING id, identifier)
        INSERT INTO notification_event (app_id, sub, type, event_time, notification_id)
        SELECT k.app_id, k.sub, k.type, k.event_time, kept.id
        FROM unnest($6::text[], $7::bigint[], $8::text[], $9::text[], $10::bigint[])
            AS k (identifier, app_id, sub, type, event_time)
        JOIN kept ON kept.identifier = k.identifier
        """)

    let names: PostgresNames

    /// What to ask the database for: nothing, or both calls.
    func findCalls(for set: WorkingSet) throws -> [PostgresCall] {
        guard !set.inboxIdentifiers.isEmpty else { return [] }
        return [
            PostgresCall(Self.findIdentifiers, [.texts(set.inboxIdentifiers.map(\.rawValue))]),
            PostgresCall(
                Self.findKeys,
                [
                    .integers(try set.inboxKeys.map { try names.apps.ensuredNumber(of: $0.clientID) }),
                    .texts(set.inboxKeys.map(\.subject.rawValue)), .texts(set.inboxKeys.map(\.type)),
                    .moments(set.inboxKeys.map(\.moment)),
                ]),
        ]
    }

    /// Puts the answers to both calls into a working set.
    func load(_ answers: ArraySlice<PostgresRows>, into set: inout WorkingSet) {
        guard let identifiers = answers.first, let keys = answers.last, answers.count == 2 else { return }
        for row in 0..<identifiers.count {
            guard let place = identifiers.integer(row, 0) else { continue }
            set.load(inboxIdentifier: set.inboxIdentifiers[Int(place) - 1])
        }
        for row in 0..<keys.count {
            guard let place = keys.integer(row, 0) else { continue }
            set.load(inboxKey: set.inboxKeys[Int(place) - 1])
        }
    }

    func insertCall(_ kept: [KeptNotification]) throws -> PostgresCall? {
        guard !kept.isEmpty else { return nil }
        // In one order, so that two replicas that keep the same ones cannot wait for each other.
        let kept = kept.sorted { $0.command.identifier < $1.command.identifier }
        let keys = kept.flatMap { kept in kept.newInboxKeys.map { (kept.command.identifier, $0) } }
            .sorted { ($0.1.subject, $0.1.moment) < ($1.1.subject, $1.1.moment) }
        return PostgresCall(
            Self.insert,
            [
                .texts(kept.map(\.command.identifier.rawValue)),
                .integers(try kept.map { try names.apps.ensuredNumber(of: $0.command.clientID) }),
                .integers(kept.map(\.receipt.storageCode)), .texts(kept.map(\.payload)),
                .moments(kept.map(\.command.receivedAt)), .texts(keys.map(\.0.rawValue)),
                .integers(try keys.map { try names.apps.ensuredNumber(of: $0.1.clientID) }),
                .texts(keys.map(\.1.subject.rawValue)), .texts(keys.map(\.1.type)),
                .moments(keys.map(\.1.moment)),
            ])
    }
}
