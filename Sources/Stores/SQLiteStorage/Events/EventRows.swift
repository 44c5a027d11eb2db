public import AppleAccounts
import GRDB
import SQLTables

/// Reads the event feed.
final class EventRows {
    private let names: Names
    private let find: PreparedStatement
    private let start: Parameter<Int64>
    private let limit: Parameter<Int64>
    /// Statements for one account's events and for its last events, with the same columns as `find`.
    private let findOfAccount: PreparedStatement
    private let findLastOfAccount: PreparedStatement
    private let account: Parameter<AccountID>
    private let columns: EventColumns
    private let findApps: PreparedStatement
    private let subjectOfApps: Parameter<Int64>
    private let accountOfApps: Parameter<AccountID>
    private let appOfCredential: CredentialTable

    init(_ names: Names, in database: Database) throws {
        self.names = names
        var parameters = ParameterList()
        (start, limit) = (parameters.add(Int64.self), parameters.add(Int64.self))
        var list = SelectList()
        columns = EventColumns(&list)
        find = try PreparedStatement(
            """
            SELECT \(list)
            FROM event e JOIN subject s ON s.id = e.subject_id
            WHERE e.sequence > \(start) ORDER BY e.sequence LIMIT \(limit)
            """, in: database)
        // Only the statements for one account have this parameter.
        let (ofAccount, begin, most) = (parameters.add(AccountID.self), start, limit)
        account = ofAccount
        func select(_ condition: String, _ order: String) throws -> PreparedStatement {
            try PreparedStatement(
                """
                SELECT \(list)
                FROM event e JOIN subject s ON s.id = e.subject_id
                WHERE e.account_id = \(ofAccount) AND e.account_id IS NOT NULL AND e.sequence \(condition)
                ORDER BY e.sequence \(order) LIMIT \(most)
                """, in: database)
        }
        findOfAccount = try select("> \(begin)", "")
        findLastOfAccount = try select("< \(begin)", "DESC")

        var appParameters = ParameterList()
        subjectOfApps = appParameters.add(Int64.self)
        accountOfApps = appParameters.add(AccountID.self)
        var appList = SelectList()
        appOfCredential = appList.add(CredentialTable.self, .only { [$0.appID] })
        findApps = try PreparedStatement(
            """
            SELECT \(appList) FROM credential WHERE subject_id = \(subjectOfApps)
            UNION ALL
            SELECT a.app_id FROM erasure r JOIN erasure_app a ON a.erasure_id = r.id
            WHERE r.account_id = \(accountOfApps)
            """, in: database)
    }

    func page(after sequence: Int64, limit: Int, visibleTo scope: AppScope) throws -> EventPage {
        find.begin()
        return try page(find, after: sequence, limit: limit, visibleTo: scope)
    }

    /// Returns an account's next events.
    func page(of id: AccountID, after sequence: Int64, limit: Int, visibleTo scope: AppScope) throws
        -> EventPage
    {
        findOfAccount.begin()
        findOfAccount.bind(id, to: account)
        return try page(findOfAccount, after: sequence, limit: limit, visibleTo: scope)
    }

    /// Returns an account's last events, newest first.
    func last(of id: AccountID, limit: Int, visibleTo scope: AppScope) throws -> [AccountEvent] {
        findLastOfAccount.begin()
        findLastOfAccount.bind(id, to: account)
        return try page(findLastOfAccount, after: .max, limit: limit, visibleTo: scope).events
    }

    /// Reads a page from a statement that has begun.
    private func page(
        _ find: PreparedStatement, after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) throws -> EventPage {
        let scan = scope.scan(forPageOf: limit)
        find.bind(sequence, to: start)
        // An extra row shows that more events follow.
        find.bind(Int64(scan) + 1, to: self.limit)
        defer { find.finish() }
        var apps: Set<Int64>?
        return try columns.page(after: sequence, limit: limit, scan: scan) {
            try find.step() ? find : nil
        } event: { row in
            // The app numbers are read only after the statement has begun, because otherwise the first events
            // of a newly added app would never be shown.
            if case .only(let clientIDs) = scope, apps == nil { apps = try numbers(of: clientIDs) }
            guard try isVisible(row, to: apps) else { return nil }
            return try columns.event(row) {
                try names.teams.name(of: $0)
            } app: {
                try names.apps.name(of: $0)
            }
        }
    }

    private func numbers(of clientIDs: Set<ClientID>) throws -> Set<Int64> {
        Set(try clientIDs.compactMap { try names.apps.number(of: $0) })
    }

    /// Returns true if the caller may see the current event. Reads from the event's snapshot, because the
    /// running statement keeps the connection on this snapshot.
    ///
    /// - Parameter apps: The app numbers of a limited caller; `nil` for a caller without a limit.
    private func isVisible(_ find: PreparedStatement, to apps: Set<Int64>?) throws -> Bool {
        guard let apps else { return true }
        if let app = find[columns.app] { return apps.contains(app) }
        findApps.begin()
        findApps.bind(find[columns.user], to: subjectOfApps)
        findApps.bind(find[columns.account], to: accountOfApps)
        defer { findApps.finish() }
        while try findApps.step() {
            if let app = findApps[appOfCredential.appID], apps.contains(app) { return true }
        }
        return false
    }
}

extension SQLiteAccountStore {
    public func events(
        of id: AccountID, after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage {
        try await reader.read {
            try $0.events.page(of: id, after: sequence, limit: limit, visibleTo: scope)
        }
    }

    public func lastEvents(of id: AccountID, limit: Int, visibleTo scope: AppScope) async throws
        -> [AccountEvent]
    {
        try await reader.read { try $0.events.last(of: id, limit: limit, visibleTo: scope) }
    }
}

/// Appends account events. SQLite numbers them in commit order, because only one connection writes.
final class EventWriter {
    private let names: Names
    private let insert: Insertion<EventTable>
    private let subject: Column<Int64>
    private let app: Column<Int64>

    init(_ names: Names, in database: Database) throws {
        self.names = names
        insert = try Insertion(.except { [$0.sequence] }, in: database)
        (subject, app) = (insert.columns["subject_id", Int64.self], insert.columns["app_id", Int64.self])
    }

    func append(_ event: AccountEvent, subjectRowID: Int64) throws {
        let app = try event.clientID.map { try names.apps.ensureNumber(of: $0) }
        try insert {
            $0.write(event, to: $1)
            $1.set(subject, subjectRowID)
            $1.set(self.app, app)
        }
    }
}
