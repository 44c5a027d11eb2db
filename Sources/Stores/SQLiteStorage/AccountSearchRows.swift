public import AppleAccounts
import Foundation
import GRDB
import SQLTables

extension SQLiteAccountStore {
    public func accounts(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int, at moment: Moment
    ) async throws -> AccountPage {
        try await reader.read { try $0.search.page(search, after: position, limit: limit, at: moment) }
    }

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

    public func history(of id: AccountID, limit: Int) async throws -> [HistoryEntry] {
        try await reader.read { try $0.history().entries(of: id, limit: limit) }
    }

    public func nextChecks(of id: AccountID) async throws -> [ClientID: PlannedCheck] {
        try await reader.read { try $0.search.nextChecks(of: id) }
    }

    public func payloads(about key: SubjectKey, for clientIDs: Set<ClientID>, limit: Int) async throws
        -> [KeptPayload]
    {
        try await reader.read { rows in
            let all = try clientIDs.sorted().flatMap {
                try rows.history().payloads(about: key.subject, for: $0, limit: limit)
            }
            return Array(all.sorted { $0.moment > $1.moment }.prefix(limit))
        }
    }

    public func purgeHistory(before moment: Moment) async throws -> Int {
        try await writer.run { database in
            try database.execute(
                sql: """
                    DELETE FROM account_history WHERE (account_id, number) IN (
                        SELECT account_id, number FROM account_history WHERE recorded_at < :end
                        ORDER BY recorded_at LIMIT :limit)
                    """,
                arguments: ["end": moment.milliseconds, "limit": Self.largestPurge])
            return database.changesCount
        }
    }
}

/// Finds accounts for people who look. Searches are rare, so their statements are not kept.
///
/// Each statement goes along one index and stops after a bounded number of rows; a test compares their plans.
struct AccountSearchRows {
    /// A row that may be found, and its position in the order of the search.
    struct Candidate {
        let rowID: Int64
        let position: SearchPosition
    }

    let database: Database
    let names: Names
    let subjects: SubjectRows

    func page(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int, at moment: Moment
    ) throws -> AccountPage {
        var scan = SearchScan(search, limit: limit, at: moment)
        let candidates = try candidates(search, after: position, limit: AccountSearch.longestScan + 1)
        var looked = 0
        for candidate in candidates.prefix(AccountSearch.longestScan) where !scan.isFull {
            looked += 1
            try scan.look(at: subjects.find(rowID: candidate.rowID), candidate.position) {
                try appsOfGrants(of: $0)
            }
        }
        return scan.page(hasMore: looked < candidates.count)
    }

    func nextChecks(of id: AccountID) throws -> [ClientID: PlannedCheck] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT app_id, min(next_check_at) AS due, min(unchecked_since) AS unchecked FROM refresh_token
                WHERE account_id = :account GROUP BY app_id
                """, arguments: ["account": id.uniqueID.data])
        return try rows.reduce(into: [:]) { checks, row in
            let unchecked: Int64? = row["unchecked"]
            checks[try names.apps.name(of: row["app_id"])] = PlannedCheck(
                next: Moment(milliseconds: row["due"]),
                uncheckedSince: unchecked.map { Moment(milliseconds: $0) })
        }
    }

    private func candidates(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int
    ) throws -> [Candidate] {
        let path = SearchPath(search)
        switch path {
        case .disabled:
            return try byRow([SearchSQL.disabled], [[:]], after: position, limit: limit)
        case .revoked(let apps):
            let numbers = try (apps.map { try self.numbers(of: $0) } ?? allNumbers())
                .union([AppTable.allApps])
            return try byRow(
                numbers.map { _ in SearchSQL.revoked }, numbers.map { ["app": $0] }, after: position,
                limit: limit)
        case .apps(let apps):
            let numbers = try self.numbers(of: apps)
            return try byRow(
                numbers.map { _ in SearchSQL.ofApp }, numbers.map { ["app": $0] }, after: position,
                limit: limit)
        case .linked:
            return try byAccount(SearchSQL.linked, [:], after: position, limit: limit)
        case .all(let moment):
            let first = Self.firstID(at: moment)
            return try byAccount(SearchSQL.all, ["first": first.data], after: position, limit: limit)
        case .key(let key):
            return try candidates(with: key, search.scope, after: position, limit: limit)
        }
    }

    private func candidates(
        with key: AccountSearch.Key, _ scope: AppScope, after position: SearchPosition?, limit: Int
    ) throws -> [Candidate] {
        switch key {
        case .email(let address):
            return try byAccount(SearchSQL.email, ["text": address], after: position, limit: limit)
        case .name(let name):
            let texts = SearchText.lastNames(in: name)
            guard let whole = texts.first else { return [] }
            var found = try byAccount(SearchSQL.firstName, ["text": whole], after: position, limit: limit)
            for text in texts {
                found += try byAccount(SearchSQL.lastName, ["text": text], after: position, limit: limit)
            }
            return Self.merged(found, limit: limit)
        case .account(let id):
            return try byAccount(SearchSQL.account, ["id": id.uniqueID.data], after: position, limit: limit)
        case .subject(let subject):
            return try byAccount(
                SearchSQL.subject, ["sub": subject.rawValue], after: position, limit: limit)
        case .grant(let id):
            let app = try Int64.fetchOne(
                database, sql: "SELECT app_id FROM oauth_grant WHERE id = :grant",
                arguments: ["grant": id.uniqueID.data])
            guard let app, scope.allows(try names.apps.name(of: app)) else { return [] }
            return try byAccount(
                SearchSQL.grant, ["grant": id.uniqueID.data], after: position, limit: limit)
        }
    }

    private func byAccount(
        _ sql: String, _ arguments: [String: any DatabaseValueConvertible], after position: SearchPosition?,
        limit: Int
    ) throws -> [Candidate] {
        var before = UniqueID(high: .max, low: .max)
        if case .account(let id) = position { before = id.uniqueID }
        var arguments = arguments
        arguments["before"] = before.data
        arguments["limit"] = limit
        return try Row.fetchAll(database, sql: sql, arguments: StatementArguments(arguments)).compactMap {
            guard let rowID: Int64 = $0["id"], let data: Data = $0["account_id"], let id = UniqueID(data)
            else { return nil }
            return Candidate(rowID: rowID, position: .account(AccountID(id)))
        }
    }

    /// Runs statements that go along one index each, and merges their rows.
    private func byRow(
        _ statements: [String], _ arguments: [[String: any DatabaseValueConvertible]],
        after position: SearchPosition?, limit: Int
    ) throws -> [Candidate] {
        var before = Int64.max
        if case .row(let number) = position { before = number }
        var found: Set<Int64> = []
        for (sql, arguments) in zip(statements, arguments) {
            var arguments = arguments
            arguments["before"] = before
            arguments["limit"] = limit
            found.formUnion(
                try Int64.fetchAll(database, sql: sql, arguments: StatementArguments(arguments)))
        }
        return found.sorted(by: >).prefix(limit).map { Candidate(rowID: $0, position: .row($0)) }
    }

    private static func merged(_ candidates: [Candidate], limit: Int) -> [Candidate] {
        var seen: Set<Int64> = []
        func id(_ candidate: Candidate) -> UniqueID {
            if case .account(let id) = candidate.position { id.uniqueID } else { UniqueID(high: 0, low: 0) }
        }
        return Array(
            candidates.filter { seen.insert($0.rowID).inserted }.sorted { id($1) < id($0) }.prefix(limit))
    }

    private static func firstID(at moment: Moment?) -> UniqueID {
        UniqueID(high: UInt64(moment?.milliseconds ?? 0) << 16, low: 0)
    }

    private func numbers(of clientIDs: Set<ClientID>) throws -> Set<Int64> {
        Set(try clientIDs.compactMap { try names.apps.number(of: $0) })
    }

    private func allNumbers() throws -> Set<Int64> {
        Set(try Int64.fetchAll(database, sql: "SELECT id FROM app"))
    }

    private func appsOfGrants(of id: AccountID) throws -> [ClientID] {
        try Int64.fetchAll(
            database, sql: "SELECT app_id FROM oauth_grant WHERE account_id = :account",
            arguments: ["account": id.uniqueID.data]
        ).map { try names.apps.name(of: $0) }
    }
}

/// The statements of searches. `:before` is the position of the page, `:limit` bounds the rows. Each has an
/// order that its index has.
///
/// SQLite uses a partial index only if the condition of the index stands in the statement.
enum SearchSQL {
    static let all = """
        SELECT id, account_id FROM subject WHERE account_id < :before AND account_id >= :first
        ORDER BY account_id DESC LIMIT :limit
        """
    static let email = """
        SELECT * FROM (
            SELECT id, account_id FROM subject
            WHERE email IS NOT NULL AND lower(email) = lower(:text) AND account_id < :before
            ORDER BY account_id DESC LIMIT :limit)
        UNION ALL
        SELECT * FROM (
            SELECT id, account_id FROM subject
            WHERE unsigned_email IS NOT NULL AND lower(unsigned_email) = lower(:text)
                AND account_id < :before
            ORDER BY account_id DESC LIMIT :limit)
        ORDER BY account_id DESC LIMIT :limit
        """
    static let firstName = """
        SELECT id, account_id FROM subject
        WHERE first_name IS NOT NULL AND lower(first_name) = lower(:text) AND account_id < :before
        ORDER BY account_id DESC LIMIT :limit
        """
    static let lastName = """
        SELECT id, account_id FROM subject
        WHERE last_name IS NOT NULL AND lower(last_name) = lower(:text) AND account_id < :before
        ORDER BY account_id DESC LIMIT :limit
        """
    static let account = """
        SELECT id, account_id FROM subject WHERE account_id = :id AND account_id < :before LIMIT :limit
        """
    static let subject = """
        SELECT s.id, s.account_id FROM team t CROSS JOIN subject s ON s.key_digest = key_digest(t.id, :sub)
        WHERE s.account_id < :before ORDER BY s.account_id DESC LIMIT :limit
        """
    static let grant = """
        SELECT s.id, s.account_id FROM oauth_grant g CROSS JOIN subject s ON s.account_id = g.account_id
        WHERE g.id = :grant AND s.account_id < :before LIMIT :limit
        """
    static let linked = """
        SELECT s.id, s.account_id
        FROM (
            SELECT DISTINCT account_id FROM oauth_grant WHERE account_id < :before
            ORDER BY account_id DESC LIMIT :limit) AS g
        CROSS JOIN subject s ON s.account_id = g.account_id ORDER BY s.account_id DESC
        """
    static let disabled = """
        SELECT subject_id FROM credential INDEXED BY credential_of_disabled
        WHERE disabled_until IS NOT NULL AND subject_id < :before ORDER BY subject_id DESC LIMIT :limit
        """
    static let revoked = """
        SELECT subject_id FROM credential INDEXED BY credential_by_revocation
        WHERE app_id = :app AND revoked_at IS NOT NULL AND subject_id < :before
        ORDER BY subject_id DESC LIMIT :limit
        """
    static let ofApp = """
        SELECT subject_id FROM credential INDEXED BY credential_by_app
        WHERE app_id = :app AND app_id > 0 AND subject_id < :before
        ORDER BY subject_id DESC LIMIT :limit
        """

    /// All statements, by name.
    static let statements: [(name: String, sql: String)] = [
        ("all", all), ("email", email), ("firstName", firstName), ("lastName", lastName),
        ("account", account), ("subject", subject), ("grant", grant), ("linked", linked),
        ("disabled", disabled), ("revoked", revoked), ("ofApp", ofApp),
    ]
}
