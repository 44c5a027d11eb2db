import AppleAccounts
import GRDB

/// Reads the event feed.
final class EventRows {
    /// How many events one page may look at for a reader who sees few of them. Bounds the time that a read
    /// takes.
    static let longestScan = 5000

    private let names: Names
    private let find: PreparedStatement
    private let findLast: PreparedStatement

    init(_ names: Names, in database: Database) throws {
        self.names = names
        find = try PreparedStatement(
            """
            SELECT e.sequence, e.app_id, s.team_id, s.sub, e.id, e.kind, e.account_id, e.reason, e.source,
                e.moment, e.recorded_at
            FROM event e JOIN subject s ON s.id = e.subject_id
            WHERE e.sequence > ?1 ORDER BY e.sequence LIMIT ?2
            """, in: database)
        findLast = try PreparedStatement("SELECT max(sequence) FROM event", in: database)
    }

    /// 0 without events.
    func lastSequence() throws -> Int64 {
        findLast.begin()
        defer { findLast.finish() }
        return try findLast.step() ? findLast.integer(0) ?? 0 : 0
    }

    func page(after sequence: Int64, limit: Int, visibleTo visibility: EventVisibility) throws -> EventPage {
        let scan = visibility == .everything ? limit : max(limit, Self.longestScan)
        find.begin()
        find.bind(sequence, at: 1)
        // One more tells whether there is more.
        find.bind(Int64(scan) + 1, at: 2)
        defer { find.finish() }
        var events: [AccountEvent] = []
        var cursor = sequence
        var scanned = 0
        while try find.step() {
            guard scanned < scan, events.count < limit else {
                return EventPage(events: events, cursor: cursor, hasMore: true)
            }
            if let event = try event(visibleTo: visibility) { events.append(event) }
            cursor = find.integer(0) ?? cursor
            scanned += 1
        }
        return EventPage(events: events, cursor: cursor, hasMore: false)
    }

    /// The event that the statement is at, or `nil` when it is not to be seen, which two numbers tell.
    private func event(visibleTo visibility: EventVisibility) throws -> AccountEvent? {
        let clientID = try find.integer(1).map { try names.apps.name(of: $0) }
        let team = try names.teams.name(of: find.integer(2) ?? 0)
        guard visibility.includesEvents(of: clientID, in: team) else { return nil }
        guard let sequence = find.integer(0), let name = find.text(3), let id = find.uniqueID(4),
            let kind = find.integer(5), let moment = find.moment(9),
            let recordedAt = find.moment(10)
        else { throw StorageError(.corrupted, detail: "an event lacks something") }
        // A person who was erased has a name here that no `sub` can be.
        let subject = AppleSubject(name)
        guard subject != nil || name.hasPrefix("\u{1}") else {
            throw StorageError(.corrupted, detail: "an event about nobody")
        }
        return AccountEvent(
            sequence: sequence, id: EventID(id), kind: try AccountEvent.Kind(storageCode: kind), team: team,
            subject: subject,
            accountID: find.uniqueID(6).map { AccountID($0) }, clientID: clientID,
            reason: try find.integer(7).map { try CredentialReason(storageCode: $0) },
            source: try find.integer(8).map { try CredentialSource(storageCode: $0) }, moment: moment,
            recordedAt: recordedAt)
    }
}
