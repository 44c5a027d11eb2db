public import AppleAccounts

/// The columns of an event and its user. The tables have the aliases `e` and `s`.
public struct EventColumns: Sendable {
    @usableFromInline let event: EventTable
    @usableFromInline let subject: SubjectTable
    @usableFromInline let sequence: Column<Int64>
    /// The app number, the user number and the account, which decide which callers can see the event.
    public let app: Column<Int64>
    public let user: Column<Int64>
    public let account: Column<AccountID>

    public init(_ list: inout SelectList) {
        event = list.add(EventTable.self, as: "e")
        (sequence, account) = (event.sequence, event.accountID)
        (app, user) = (event["app_id", Int64.self], event["subject_id", Int64.self])
        subject = list.add(SubjectTable.self, as: "s", .only { [$0.teamID, $0.subject] })
    }

    /// - Parameters:
    ///   - team: Returns a team's name by its number.
    ///   - app: Returns an app's name by its number.
    @inlinable
    public func event(
        _ row: some ReadableRow, team: (Int64) throws -> TeamID, app: (Int64) throws -> ClientID
    ) throws -> AccountEvent {
        let name = try row.required(self.subject.subject)
        // An erased user's row has a name that cannot be a `sub`, so the event has no subject.
        let subject = AppleSubject(name)
        guard subject != nil || name.hasPrefix("\u{1}") else {
            throw StorageError(
                .corrupted,
                detail: "expected a sub or a tombstone as the subject of an event; restore a backup")
        }
        return try event.record(
            row, (team(row.required(self.subject.teamID)), subject, row[self.app].map(app)))
    }

    /// Reads a page. It reads up to `scan` rows plus one, because an extra row shows that more events follow.
    ///
    /// - Parameters:
    ///   - sequence: Last sequence number of the previous page.
    ///   - scan: Number of events that the page may read.
    ///   - next: Returns the next row; `nil` after the last row.
    ///   - event: Returns the event of a row; `nil` if the caller may not see it.
    @inlinable
    public func page<Row: ReadableRow>(
        after sequence: Int64, limit: Int, scan: Int, next: () throws -> Row?,
        event: (Row) throws -> AccountEvent?
    ) throws -> EventPage {
        var events: [AccountEvent] = []
        var (cursor, scanned) = (sequence, 0)
        while let row = try next() {
            guard scanned < scan, events.count < limit else {
                return EventPage(events: events, cursor: cursor, hasMore: true)
            }
            if let event = try event(row) { events.append(event) }
            cursor = row[self.sequence] ?? cursor
            scanned += 1
        }
        return EventPage(events: events, cursor: cursor, hasMore: false)
    }
}

extension AppScope {
    /// Returns the number of events that a page may read for a caller with access to only a few of them. This
    /// bounds the read time.
    public func scan(forPageOf limit: Int) -> Int { self == .all ? limit : max(limit, 5000) }
}

/// Statements for deliveries and for the end of the feed, for both databases.
enum EventStatements {
    static let find = SQLStatement<(EventColumns, team: Column<TeamID>, app: Column<ClientID>), Int64>(
        "find_event"
    ) {
        (
            EventColumns(&$0),
            $0.add("(SELECT name FROM team WHERE id = s.team_id)", TeamID.self, as: "team"),
            $0.add("(SELECT name FROM app WHERE id = e.app_id)", ClientID.self, as: "app")
        )
    } sql: { _, list, sequence in
        "SELECT \(list) FROM event AS e JOIN subject s ON s.id = e.subject_id WHERE e.sequence = \(sequence)"
    }
    static let last = SQLStatement<Void>("last_event_of_feed") { "SELECT \($0.lastEvent)" }
}

extension SQLDialect {
    /// SQL for the last event's number. PostgreSQL commits the counter with the events that it numbers.
    var lastEvent: String {
        switch self {
        case .sqlite: "(SELECT coalesce(max(sequence), 0) FROM event)"
        case .postgres: "(SELECT last_sequence FROM event_counter WHERE id = 1)"
        }
    }
}

extension SQLSession {
    /// Returns the last event's number; 0 for an empty feed.
    public func lastEvent() throws -> Int64 {
        guard let last = try value(EventStatements.last(), as: Int64.self) else {
            throw StorageError(
                .corrupted, detail: "expected one row in event_counter, found none; restore a backup")
        }
        return last
    }
}

extension SQLReader {
    /// Implements `AccountStore`.
    public func lastEventSequence() async throws -> Int64 { try await snapshot { try $0.lastEvent() } }
}

extension DeliveryStore where Self: SQLStore {
    public func events(numbered sequences: [Int64]) async throws -> [AccountEvent] {
        let calls = Set(sequences).sorted().map { EventStatements.find($0) }
        let (columns, team, app) = EventStatements.find.columns
        return try await snapshot { session in
            var events: [AccountEvent] = []
            try session.run(calls) { _, row in
                events.append(
                    try columns.event(
                        row, team: { _ in try row.required(team) }, app: { _ in try row.required(app) }))
            }
            return events
        }
    }
}
