public import AppleAccounts

/// Search statements for both databases. Each statement follows one index in its order, and stops after a
/// bounded number of rows; a test compares their query plans. With byte-order collation, lower() changes only
/// ASCII letters, as in the indexes.
///
/// SQLite uses a partial index only if the statement repeats the index's condition.
enum SearchStatements {
    typealias ByKey = SQLStatement<Void, String, AccountID, Int64>
    typealias ByApp = SQLStatement<Void, Int64, Int64, Int64>

    static let all = SQLStatement<Void, AccountID, AccountID, Int64>("search_all") {
        _, before, first, limit in
        """
        SELECT id, account_id FROM subject WHERE account_id < \(before) AND account_id >= \(first)
        ORDER BY account_id DESC LIMIT \(limit)
        """
    }
    // Each column has its own statement. For a UNION ALL, PostgreSQL's planner would choose the index that
    // returns its first row soonest, so it would start at the newest user and read all rows before the match.
    static let email = having("email")
    static let unsignedEmail = having("unsigned_email")
    static let firstName = having("first_name")
    static let lastName = having("last_name")
    static let account = SQLStatement<Void, AccountID, AccountID>("search_account") { _, id, before in
        "SELECT id, account_id FROM subject WHERE account_id = \(id) AND account_id < \(before)"
    }
    static let subject = SQLStatement<Void, String, AccountID>("search_subject") { dialect, name, before in
        let teams =
            switch dialect {
            case .sqlite: "team t CROSS JOIN subject s ON s.key_digest = key_digest(t.id, \(name))"
            case .postgres:
                "(SELECT id FROM team OFFSET 0) AS t JOIN subject s ON s.team_id = t.id AND s.sub = \(name)"
            }
        return "SELECT s.id, s.account_id FROM \(teams) WHERE s.account_id < \(before)"
    }
    static let linked = SQLStatement<Void, AccountID, Int64>("search_linked") { _, before, limit in
        """
        SELECT (SELECT id FROM subject WHERE account_id = g.account_id), g.account_id
        FROM (
            SELECT DISTINCT account_id FROM oauth_grant WHERE account_id < \(before)
            ORDER BY account_id DESC LIMIT \(limit)) AS g
        """
    }
    static let disabled = SQLStatement<Void, Int64, Int64>("search_disabled") { dialect, before, limit in
        """
        SELECT subject_id FROM credential \(dialect.indexed(by: "credential_of_disabled"))
        WHERE disabled_until IS NOT NULL AND subject_id < \(before) ORDER BY subject_id DESC LIMIT \(limit)
        """
    }
    static let revoked = ofApp("search_revoked", "credential_by_revocation", "revoked_at IS NOT NULL")
    static let ofApp = ofApp("search_app", "credential_by_app", "app_id > 0")

    static let grant = SQLStatement<(account: Column<AccountID>, app: Column<ClientID>), GrantID>(
        "search_grant"
    ) {
        (account: $0.add("account_id", AccountID.self, as: "account_id"), app: addApp(of: "g", to: &$0))
    } sql: { _, list, id in
        "SELECT \(list) FROM oauth_grant g WHERE id = \(id)"
    }
    static let grants = SQLStatement<Column<ClientID>, AccountID>("search_grants") {
        addApp(of: "g", to: &$0)
    } sql: { _, list, account in
        "SELECT \(list) FROM oauth_grant g WHERE account_id = \(account)"
    }
    static let apps = SQLStatement<(number: Column<Int64>, name: Column<ClientID>)>("search_apps") {
        (number: $0.add("id", Int64.self, as: "id"), name: $0.add("name", ClientID.self, as: "name"))
    } sql: { _, list in
        "SELECT \(list) FROM app WHERE id > \(AppTable.allApps)"
    }
    static let load = SQLStatement<
        (team: Column<TeamID>, subject: SubjectTable, app: Column<ClientID>, credential: CredentialTable),
        Int64
    >("search_load") {
        (
            team: $0.add("(SELECT name FROM team WHERE id = s.team_id)", TeamID.self, as: "team"),
            subject: $0.add(SubjectTable.self, as: "s"), app: addApp(of: "c", to: &$0),
            credential: $0.add(CredentialTable.self, as: "c", .factsOfApp)
        )
    } sql: { _, list, rowID in
        """
        SELECT \(list) FROM subject s LEFT JOIN credential c ON c.subject_id = s.id
        WHERE s.id = \(rowID) AND s.account_id IS NOT NULL
        """
    }

    /// The statements that each follow an index.
    static let paths = [
        all.text, email.text, unsignedEmail.text, firstName.text, lastName.text, account.text, subject.text,
        linked.text, disabled.text, revoked.text, ofApp.text,
    ]

    private static func having(_ column: String) -> ByKey {
        ByKey("search_\(column)") { dialect, text, before, limit in
            """
            SELECT id, account_id FROM subject
            WHERE \(column) IS NOT NULL AND lower(\(column)) = lower(\(text) \(dialect.byteOrder))
                AND account_id < \(before)
            ORDER BY account_id DESC LIMIT \(limit)
            """
        }
    }

    private static func ofApp(_ name: String, _ index: String, _ condition: String) -> ByApp {
        ByApp(name) { dialect, app, before, limit in
            """
            SELECT subject_id FROM credential \(dialect.indexed(by: index))
            WHERE app_id = \(app) AND \(condition) AND subject_id < \(before)
            ORDER BY app_id DESC, subject_id DESC LIMIT \(limit)
            """
        }
    }

    private static func addApp(of alias: String, to list: inout SelectList) -> Column<ClientID> {
        list.add("(SELECT name FROM app WHERE id = \(alias).app_id)", ClientID.self, as: "app")
    }
}

extension AccountSearchStore where Self: SQLStore {
    public func accounts(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int, at moment: Moment
    ) async throws -> AccountPage {
        try await stableSnapshot { session in
            var scan = SearchScan(search, limit: limit, at: moment)
            let candidates = try SearchCandidate.all(search, after: position, in: session)
            let most = min(candidates.count, AccountSearch.longestScan)
            var looked = 0
            while looked < most, !scan.isFull {
                let part = candidates[looked..<min(looked + max(limit, looked, 50), most)]
                let records = try SearchCandidate.load(part, in: session)
                let grants =
                    try search.filter.isLinked == nil ? [:] : SearchCandidate.grants(of: records, in: session)
                for (candidate, record) in zip(part, records) where !scan.isFull {
                    looked += 1
                    scan.look(at: record, candidate.position) { grants[$0] ?? [] }
                }
            }
            return scan.page(hasMore: looked < candidates.count)
        }
    }
}

/// A row that may match an operator's search.
private struct SearchCandidate {
    let rowID: Int64
    /// The account ID; `nil` if the search reads in row order.
    let accountID: AccountID?

    var position: SearchPosition { accountID.map { .account($0) } ?? .row(rowID) }

    /// Returns the candidates that follow a position in their order: one more than a page reads.
    static func all(
        _ search: AccountSearch, after position: SearchPosition?, in session: any SQLSession
    ) throws -> [SearchCandidate] {
        let limit = AccountSearch.longestScan + 1
        let path = SearchPath(search)
        var found: [Int64: SearchCandidate] = [:]
        try session.run(calls(path, search.scope, after: position, Int64(limit), in: session)) { _, row in
            guard let rowID = row[Column<Int64>("id", place: 0)] else { return }
            let account = Column<AccountID>("account_id", place: 1)
            found[rowID] = SearchCandidate(
                rowID: rowID, accountID: path.countsRows ? nil : try row.required(account))
        }
        let newest = found.values.sorted { ($1.order, $1.rowID) < ($0.order, $0.rowID) }
        return Array(newest.prefix(limit))
    }

    private var order: UniqueID { accountID?.uniqueID ?? UniqueID(high: 0, low: 0) }

    private static func calls(
        _ path: SearchPath, _ scope: AppScope, after position: SearchPosition?, _ limit: Int64,
        in session: any SQLSession
    ) throws -> [SQLCall] {
        typealias SQL = SearchStatements
        var (id, row) = (AccountID(UniqueID(high: .max, low: .max)), Int64.max)
        switch position {
        case .account(let account): id = account
        case .row(let number): row = number
        case nil: break
        }
        switch path {
        case .disabled: return [SQL.disabled(row, limit)]
        case .revoked(let apps):
            return try ([AppTable.allApps] + numbers(of: apps, in: session)).map {
                SQL.revoked($0, row, limit)
            }
        case .apps(let apps): return try numbers(of: apps, in: session).map { SQL.ofApp($0, row, limit) }
        case .linked: return [SQL.linked(id, limit)]
        case .all(let moment):
            let first = AccountID(UniqueID(high: UInt64(moment?.milliseconds ?? 0) << 16, low: 0))
            return [SQL.all(id, first, limit)]
        case .key(.email(let address)):
            return [SQL.email, SQL.unsignedEmail].map { $0(address, id, limit) }
        case .key(.name(let name)):
            let texts = SearchText.lastNames(in: name)
            return texts.prefix(1).map { SQL.firstName($0, id, limit) }
                + texts.map { SQL.lastName($0, id, limit) }
        case .key(.account(let account)): return [SQL.account(account, id)]
        case .key(.subject(let subject)): return [SQL.subject(subject.rawValue, id)]
        case .key(.grant(let grant)):
            let columns = SQL.grant.columns
            let found = try session.rows(SQL.grant(grant)) {
                (account: try $0.required(columns.account), app: try $0.required(columns.app))
            }
            return found.filter { scope.allows($0.app) }.map { SQL.account($0.account, id) }
        }
    }

    /// Returns the numbers of the given apps; of all apps for `nil`.
    private static func numbers(of clientIDs: Set<ClientID>?, in session: any SQLSession) throws -> [Int64] {
        let columns = SearchStatements.apps.columns
        return try session.rows(SearchStatements.apps()) {
            (number: try $0.required(columns.number), name: try $0.required(columns.name))
        }.filter { clientIDs?.contains($0.name) ?? true }.map(\.number)
    }

    /// Returns a record for each candidate; `nil` for a row without an account.
    static func load(_ candidates: ArraySlice<Self>, in session: any SQLSession) throws -> [SubjectRecord?] {
        let columns = SearchStatements.load.columns
        var records = [SubjectRecord?](repeating: nil, count: candidates.count)
        try session.run(candidates.map { SearchStatements.load($0.rowID) }) { index, row in
            if records[index] == nil {
                let subject = try row.requiredSubject(columns.subject.subject)
                let key = SubjectKey(team: try row.required(columns.team), subject: subject)
                records[index] = try columns.subject.record(row, key: key)
            }
            guard var record = records[index].take() else { return }
            try columns.credential.add(row, to: &record) { _ in try row.required(columns.app) }
            records[index] = record
        }
        return records
    }

    static func grants(
        of records: [SubjectRecord?], in session: any SQLSession
    ) throws -> [AccountID: [ClientID]] {
        let accounts = records.compactMap { $0?.accountID }
        var found: [AccountID: [ClientID]] = [:]
        try session.run(accounts.map { SearchStatements.grants($0) }) { index, row in
            found[accounts[index], default: []].append(try row.required(SearchStatements.grants.columns))
        }
        return found
    }
}
