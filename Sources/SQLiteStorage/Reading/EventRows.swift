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
    private let findApps: PreparedStatement

    init(_ names: Names, in database: Database) throws {
        self.names = names
        find = try PreparedStatement(
            """
            SELECT e.sequence, e.app_id, s.team_id, s.sub, e.id, e.kind, e.account_id, e.reason, e.source,
                e.moment, e.recorded_at, e.subject_id
            FROM event e JOIN subject s ON s.id = e.subject_id
            WHERE e.sequence > ?1 ORDER BY e.sequence LIMIT ?2
            """, in: database)
        findLast = try PreparedStatement("SELECT max(sequence) FROM event", in: database)
        findApps = try PreparedStatement(
            """
            SELECT app_id FROM credential WHERE subject_id = ?1
            UNION ALL
            SELECT a.app_id FROM erasure r JOIN erasure_app a ON a.erasure_id = r.id WHERE r.account_id = ?2
            """, in: database)
    }

    /// 0 without events.
    func lastSequence() throws -> Int64 {
        findLast.begin()
        defer { findLast.finish() }
        return try findLast.step() ? findLast.integer(0) ?? 0 : 0
    }

    func page(after sequence: Int64, limit: Int, visibleTo scope: AppScope) throws -> EventPage {
        let scan = scope == .all ? limit : max(limit, Self.longestScan)
        find.begin()
        find.bind(sequence, at: 1)
        // One more tells whether there is more.
        find.bind(Int64(scan) + 1, at: 2)
        defer { find.finish() }
        var events: [AccountEvent] = []
        var cursor = sequence
        var scanned = 0
        var apps: Set<Int64>?
        while try find.step() {
            guard scanned < scan, events.count < limit else {
                return EventPage(events: events, cursor: cursor, hasMore: true)
            }
            // Now that the statement is under way: an app that is new since would otherwise hide its first events for
            // good.
            if case .only(let clientIDs) = scope, apps == nil { apps = try numbers(of: clientIDs) }
            if try isVisible(to: apps) { events.append(try event()) }
            cursor = find.integer(0) ?? cursor
            scanned += 1
        }
        return EventPage(events: events, cursor: cursor, hasMore: false)
    }

    private func numbers(of clientIDs: Set<ClientID>) throws -> Set<Int64> {
        Set(try clientIDs.compactMap { try names.apps.number(of: $0) })
    }

    /// Whether the event that the statement is at is to be seen. What it reads is of the same moment, because the
    /// statement that is under way keeps the connection to it.
    ///
    /// - Parameter apps: Of a limited caller; `nil` for one who may see all.
    private func isVisible(to apps: Set<Int64>?) throws -> Bool {
        guard let apps else { return true }
        if let app = find.integer(1) { return apps.contains(app) }
        findApps.begin()
        findApps.bind(find.integer(11), at: 1)
        findApps.bind(find.uniqueID(6), at: 2)
        defer { findApps.finish() }
        while try findApps.step() {
            if let app = findApps.integer(0), apps.contains(app) { return true }
        }
        return false
    }

    /// The event that the statement is at.
    private func event() throws -> AccountEvent {
        let clientID = try find.integer(1).map { try names.apps.name(of: $0) }
        let team = try names.teams.name(of: find.integer(2) ?? 0)
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
