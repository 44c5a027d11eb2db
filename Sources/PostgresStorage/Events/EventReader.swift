import AppleAccounts

/// Reads the event feed.
struct EventReader {
    /// How many events one page may look at for a reader who sees few of them. Bounds the time that a read
    /// takes.
    static let longestScan = 5000

    private static let columns = """
        e.sequence, e.app_id, s.team_id, s.sub, e.id, e.kind, e.account_id, e.reason, e.source, e.moment,
            e.recorded_at
        """
    private static let rows = """
        FROM (
            SELECT sequence, app_id, subject_id, id, kind, account_id, reason, source, moment, recorded_at
            FROM event WHERE sequence > $1::bigint ORDER BY sequence LIMIT $2::bigint) AS e
        JOIN subject s ON s.id = e.subject_id
        ORDER BY e.sequence
        """

    private static let findAll = PostgresStatement("find_events", "SELECT \(columns) \(rows)")

    // The apps' numbers are read along: one that is new since would otherwise hide its first events for good.
    // Subqueries have a LIMIT, and one reads one table, so that the planner leaves them what they are: of EXISTS, or of a
    // join with a table that was empty, it can make a walk through all rows.
    private static let findAllowed = PostgresStatement(
        "find_allowed_events",
        """
        WITH allowed AS MATERIALIZED (SELECT array_agg(id) AS apps FROM app WHERE name = ANY ($3::text[]))
        SELECT \(columns), CASE
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
        \(rows)
        """)

    private static let findLast = PostgresCall(
        PostgresStatement("find_last_sequence", "SELECT last_sequence FROM event_counter WHERE id = 1"))

    let names: PostgresNames

    /// The counter is committed with the events that it numbers.
    static func lastSequence(in session: PostgresSession) throws -> Int64 {
        try session.run(findLast).requireEventCounter().integer(0, 0) ?? 0
    }

    func page(
        after sequence: Int64, limit: Int, visibleTo scope: AppScope, in session: PostgresSession
    ) throws -> EventPage {
        let scan = scope == .all ? limit : max(limit, Self.longestScan)
        let rows = try session.run(call(after: sequence, scan: scan, visibleTo: scope))
        var events: [AccountEvent] = []
        var cursor = sequence
        for row in 0..<rows.count {
            guard row < scan, events.count < limit else {
                return EventPage(events: events, cursor: cursor, hasMore: true)
            }
            if scope == .all || rows.boolean(row, 11) == true {
                events.append(try event(rows, row, in: session))
            }
            cursor = rows.integer(row, 0) ?? cursor
        }
        return EventPage(events: events, cursor: cursor, hasMore: false)
    }

    private func call(after sequence: Int64, scan: Int, visibleTo scope: AppScope) -> PostgresCall {
        // One more tells whether there is more.
        let bounds: [PostgresValue] = [.integer(sequence), .integer(Int64(scan) + 1)]
        guard case .only(let clientIDs) = scope else { return PostgresCall(Self.findAll, bounds) }
        return PostgresCall(Self.findAllowed, bounds + [.texts(clientIDs.map(\.rawValue))])
    }

    private func event(_ rows: PostgresRows, _ row: Int, in session: PostgresSession) throws -> AccountEvent {
        let clientID = try rows.integer(row, 1).map { try names.apps.name(of: $0, in: session) }
        let team = try names.teams.name(of: rows.integer(row, 2) ?? 0, in: session)
        guard let sequence = rows.integer(row, 0), let name = rows.text(row, 3), let id = rows.uuid(row, 4),
            let kind = rows.integer(row, 5), let moment = rows.moment(row, 9),
            let recordedAt = rows.moment(row, 10)
        else { throw StorageError(.corrupted, detail: "an event lacks something") }
        // A person who was erased has a name here that no `sub` can be.
        let subject = AppleSubject(name)
        guard subject != nil || name.hasPrefix("\u{1}") else {
            throw StorageError(.corrupted, detail: "an event about nobody")
        }
        return AccountEvent(
            sequence: sequence, id: EventID(id), kind: try AccountEvent.Kind(storageCode: kind), team: team,
            subject: subject, accountID: rows.uuid(row, 6).map { AccountID($0) }, clientID: clientID,
            reason: try rows.integer(row, 7).map { try CredentialReason(storageCode: $0) },
            source: try rows.integer(row, 8).map { try CredentialSource(storageCode: $0) }, moment: moment,
            recordedAt: recordedAt)
    }
}
