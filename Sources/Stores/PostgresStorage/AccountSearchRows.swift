public import AppleAccounts
import SQLTables

extension PostgresAccountStore {
    public func accounts(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int, at moment: Moment
    ) async throws -> AccountPage {
        try await pool.run {
            try AccountSearchRows(session: $0).page(search, after: position, limit: limit, at: moment)
        }
    }

    public func events(
        of id: AccountID, after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage {
        try await pool.run {
            try EventReader(names: $0.names)
                .page(of: id, after: sequence, limit: limit, visibleTo: scope, in: $0)
        }
    }

    public func lastEvents(of id: AccountID, limit: Int, visibleTo scope: AppScope) async throws
        -> [AccountEvent]
    {
        try await pool.run {
            try EventReader(names: $0.names).last(of: id, limit: limit, visibleTo: scope, in: $0)
        }
    }

    public func history(of id: AccountID, limit: Int) async throws -> [HistoryEntry] {
        try await pool.run { try HistoryRows.entries(of: id, limit: limit, in: $0) }
    }

    public func nextChecks(of id: AccountID) async throws -> [ClientID: PlannedCheck] {
        try await pool.run { try HistoryRows.nextChecks(of: id, in: $0) }
    }

    public func payloads(about key: SubjectKey, for clientIDs: Set<ClientID>, limit: Int) async throws
        -> [KeptPayload]
    {
        try await pool.run {
            try HistoryRows.payloads(about: key.subject, for: clientIDs, limit: limit, in: $0)
        }
    }

    public func purgeHistory(before moment: Moment) async throws -> Int {
        try await pool.run { try HistoryRows.purge(before: moment, limit: Self.largestPurge, in: $0) }
    }
}

/// Finds accounts for people who look. It reads in a transaction with one snapshot.
struct AccountSearchRows {
    /// The number of accounts that are read in one round trip.
    private static let step = 250

    private struct Candidate {
        let rowID: Int64
        let position: SearchPosition
    }

    /// Reads subjects with their credentials, in the order of the numbers.
    private struct Load {
        let statement: TypedStatement<[Int64]>
        let place: Column<Int64>
        let subject: SubjectTable
        let credential: CredentialTable

        init() {
            var list = SelectList()
            place = list.add("k.place", Int64.self, as: "place")
            subject = list.add(SubjectTable.self, as: "s")
            credential = list.add(CredentialTable.self, as: "c", .factsOfApp)
            statement = TypedStatement("search_load") { rowIDs in
                """
                SELECT \(list) FROM unnest(\(rowIDs)) WITH ORDINALITY AS k (id, place)
                CROSS JOIN LATERAL (
                    SELECT \(SubjectTable.names()) FROM subject
                    WHERE id = k.id AND account_id IS NOT NULL OFFSET 0) AS s
                LEFT JOIN LATERAL (
                    SELECT \(CredentialTable.names(.factsOfApp)) FROM credential
                    WHERE subject_id = s.id OFFSET 0) AS c ON true
                ORDER BY k.place
                """
            }
        }
    }

    private static let load = Load()
    static let sql = SearchSQL()

    private static let findGrants = TypedQuery<OAuthGrantTable, [AccountID]>("search_grants") {
        $0.add(OAuthGrantTable.self, .only { [$0.accountID, $0.appID] })
    } sql: { list, accounts in
        "SELECT \(list) FROM oauth_grant WHERE account_id = ANY (\(accounts))"
    }
    private static let findApp = TypedQuery<OAuthGrantTable, GrantID>("search_app_of_grant") {
        $0.add(OAuthGrantTable.self, .only { [$0.appID] })
    } sql: { list, id in
        "SELECT \(list) FROM oauth_grant WHERE id = \(id)"
    }
    private static let findApps = TypedQuery<AppTable, Int64>("search_apps") {
        $0.add(AppTable.self, .only { [$0.id] })
    } sql: { list, least in
        "SELECT \(list) FROM app WHERE id >= \(least)"
    }

    let session: PostgresSession

    func page(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int, at moment: Moment
    ) throws -> AccountPage {
        try session.rollingBackFailures {
            _ = try session.run(.beginReading)
            let page = try read(search, after: position, limit: limit, at: moment)
            _ = try session.run(.commit)
            return page
        }
    }

    private func read(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int, at moment: Moment
    ) throws -> AccountPage {
        var scan = SearchScan(search, limit: limit, at: moment)
        let candidates = try candidates(search, after: position, limit: AccountSearch.longestScan + 1)
        let most = min(candidates.count, AccountSearch.longestScan)
        var looked = 0
        while looked < most, !scan.isFull {
            let part = candidates[looked..<min(looked + Self.step, most)]
            let records = try load(part)
            let grants = try search.filter.isLinked == nil ? [:] : self.grants(of: records)
            for (candidate, record) in zip(part, records) where !scan.isFull {
                looked += 1
                scan.look(at: record, candidate.position) { grants[$0] ?? [] }
            }
        }
        return scan.page(hasMore: looked < candidates.count)
    }

    private func candidates(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int
    ) throws -> [Candidate] {
        let sql = Self.sql
        var (beforeID, beforeRow) = (AccountID(UniqueID(high: .max, low: .max)), Int64.max)
        switch position {
        case .account(let id): beforeID = id
        case .row(let number): beforeRow = number
        case nil: break
        }
        let most = Int64(limit)
        switch SearchPath(search) {
        case .disabled: return try byRow(sql.disabled(beforeRow, most))
        case .revoked(let apps):
            let numbers = try apps.map { try self.numbers(of: $0) } ?? allNumbers()
            return try byRow(sql.revoked(numbers + [AppTable.allApps], beforeRow, most))
        case .apps(let apps): return try byRow(sql.ofApps(numbers(of: apps), beforeRow, most))
        case .linked: return try byAccount(sql.linked(beforeID, most))
        case .all(let moment):
            let first = UniqueID(high: UInt64(moment?.milliseconds ?? 0) << 16, low: 0)
            return try byAccount(sql.all(beforeID, AccountID(first), most))
        case .key(.email(let address)): return try byAccount(sql.email(address, beforeID, most))
        case .key(.name(let name)):
            let texts = SearchText.lastNames(in: name)
            guard let whole = texts.first else { return [] }
            return try byAccount(sql.name(whole, texts, beforeID, most))
        case .key(.account(let id)): return try byAccount(sql.account(id, beforeID))
        case .key(.subject(let subject)): return try byAccount(sql.subject(subject.rawValue, beforeID))
        case .key(.grant(let id)):
            guard let app = try session.run(Self.findApp.statement(id)).first?[Self.findApp.columns.appID],
                search.scope.allows(try session.names.apps.name(of: app, in: session))
            else { return [] }
            return try byAccount(sql.grant(id, beforeID))
        }
    }

    private func byAccount(_ call: PostgresCall) throws -> [Candidate] {
        try session.run(call).map { row in
            Candidate(
                rowID: try row.required(Self.sql.rowID),
                position: .account(try row.required(Self.sql.accountID)))
        }
    }

    private func byRow(_ call: PostgresCall) throws -> [Candidate] {
        try session.run(call).map { row in
            let number = try row.required(Self.sql.rowID)
            return Candidate(rowID: number, position: .row(number))
        }
    }

    /// Returns a record for each candidate; `nil` for a row without an account.
    private func load(_ candidates: ArraySlice<Candidate>) throws -> [SubjectRecord?] {
        let columns = Self.load
        var records = [SubjectRecord?](repeating: nil, count: candidates.count)
        for row in try session.run(columns.statement(candidates.map(\.rowID))) {
            let place = Int(try row.required(columns.place)) - 1
            if records[place] == nil {
                guard let subject = AppleSubject(try row.required(columns.subject.subject)) else {
                    throw StorageError(
                        .corrupted, detail: "expected a sub in a subject with an account; restore a backup")
                }
                let team = try session.names.teams.name(
                    of: row.required(columns.subject.teamID), in: session)
                records[place] = try columns.subject.record(
                    row, key: SubjectKey(team: team, subject: subject))
            }
            guard var record = records[place].take() else { continue }
            try columns.credential.add(row, to: &record, session.names, in: session)
            records[place] = record
        }
        return records
    }

    private func grants(of records: [SubjectRecord?]) throws -> [AccountID: [ClientID]] {
        var found: [AccountID: [ClientID]] = [:]
        let columns = Self.findGrants.columns
        for row in try session.run(Self.findGrants.statement(records.compactMap { $0?.accountID })) {
            let app = try session.names.apps.name(of: row.required(columns.appID), in: session)
            found[try row.required(columns.accountID), default: []].append(app)
        }
        return found
    }

    private func numbers(of clientIDs: Set<ClientID>) throws -> [Int64] {
        try clientIDs.compactMap { try session.names.apps.number(of: $0, in: session) }
    }

    private func allNumbers() throws -> [Int64] {
        try session.run(Self.findApps.statement(1)).compactMap { $0[Self.findApps.columns.id] }
    }
}

/// The statements of searches. Each goes along one index, in its order, and stops after a bounded number of rows; a
/// test compares their plans. The collation makes lower() change ASCII letters only, as in the indexes.
struct SearchSQL: Sendable {
    let rowID: Column<Int64>
    let accountID: Column<AccountID>
    let all: TypedStatement<AccountID, AccountID, Int64>
    let email: TypedStatement<String, AccountID, Int64>
    let name: TypedStatement<String, [String], AccountID, Int64>
    let account: TypedStatement<AccountID, AccountID>
    let subject: TypedStatement<String, AccountID>
    let grant: TypedStatement<GrantID, AccountID>
    let linked: TypedStatement<AccountID, Int64>
    let disabled: TypedStatement<Int64, Int64>
    let revoked: TypedStatement<[Int64], Int64, Int64>
    let ofApps: TypedStatement<[Int64], Int64, Int64>

    init() {
        var list = SelectList()
        rowID = list.add("s.id", Int64.self, as: "id")
        accountID = list.add("s.account_id", AccountID.self, as: "account_id")
        all = TypedStatement("search_all") { before, first, limit in
            """
            SELECT \(list) FROM subject s WHERE s.account_id < \(before) AND s.account_id >= \(first)
            ORDER BY s.account_id DESC LIMIT \(limit)
            """
        }
        func having(_ column: String, _ text: String, _ before: String, _ limit: String) -> String {
            """
            (SELECT id, account_id FROM subject
                WHERE \(column) IS NOT NULL AND lower(\(column)) = lower(\(text) COLLATE "C")
                    AND account_id < \(before)
                ORDER BY account_id DESC LIMIT \(limit))
            """
        }
        // Each half has a plan of its own. Of halves below one UNION ALL the planner takes the one that begins soonest:
        // from the newest person on, past all the others.
        email = TypedStatement("search_email") { text, before, limit in
            """
            WITH signed AS MATERIALIZED \(having("email", "\(text)", "\(before)", "\(limit)")),
                unsigned AS MATERIALIZED \(having("unsigned_email", "\(text)", "\(before)", "\(limit)"))
            SELECT \(list) FROM (SELECT * FROM signed UNION ALL SELECT * FROM unsigned) AS s
            ORDER BY s.account_id DESC LIMIT \(limit)
            """
        }
        name = TypedStatement("search_name") { first, lasts, before, limit in
            """
            SELECT \(list) FROM (
                \(having("first_name", "\(first)", "\(before)", "\(limit)"))
                UNION SELECT l.id, l.account_id FROM unnest(\(lasts)) AS k (name)
                CROSS JOIN LATERAL \(having("last_name", "k.name", "\(before)", "\(limit)")) AS l) AS s
            ORDER BY s.account_id DESC LIMIT \(limit)
            """
        }
        account = TypedStatement("search_account") { id, before in
            "SELECT \(list) FROM subject s WHERE s.account_id = \(id) AND s.account_id < \(before)"
        }
        subject = TypedStatement("search_subject") { name, before in
            """
            SELECT \(list) FROM (SELECT id FROM team OFFSET 0) AS t
            JOIN subject s ON s.team_id = t.id AND s.sub = \(name)
            WHERE s.account_id < \(before) ORDER BY s.account_id DESC
            """
        }
        grant = TypedStatement("search_grant") { id, before in
            """
            SELECT \(list) FROM oauth_grant g JOIN subject s ON s.account_id = g.account_id
            WHERE g.id = \(id) AND s.account_id < \(before)
            """
        }
        linked = TypedStatement("search_linked") { before, limit in
            """
            SELECT \(list) FROM (
                SELECT DISTINCT account_id FROM oauth_grant WHERE account_id < \(before)
                ORDER BY account_id DESC LIMIT \(limit)) AS g
            CROSS JOIN LATERAL (
                SELECT id, account_id FROM subject WHERE account_id = g.account_id OFFSET 0) AS s
            ORDER BY s.account_id DESC
            """
        }
        var rows = SelectList()
        _ = rows.add("s.id", Int64.self, as: "id")
        disabled = TypedStatement("search_disabled") { before, limit in
            """
            SELECT \(rows) FROM (
                SELECT subject_id AS id FROM credential
                WHERE disabled_until IS NOT NULL AND subject_id < \(before)
                ORDER BY subject_id DESC LIMIT \(limit)) AS s
            """
        }
        func ofApps(_ condition: String, _ apps: String, _ before: String, _ limit: String) -> String {
            """
            SELECT DISTINCT \(rows) FROM unnest(\(apps)) AS a (id)
            CROSS JOIN LATERAL (
                SELECT subject_id AS id FROM credential
                WHERE app_id = a.id::integer AND \(condition) AND subject_id < \(before)
                ORDER BY app_id DESC, subject_id DESC LIMIT \(limit)) AS s
            ORDER BY s.id DESC LIMIT \(limit)
            """
        }
        revoked = TypedStatement("search_revoked") { apps, before, limit in
            ofApps("revoked_at IS NOT NULL", "\(apps)", "\(before)", "\(limit)")
        }
        self.ofApps = TypedStatement("search_app") { apps, before, limit in
            ofApps("app_id > 0", "\(apps)", "\(before)", "\(limit)")
        }
    }

    /// All statements, by name.
    var statements: [PostgresStatement] {
        [
            all.statement, email.statement, name.statement, account.statement, subject.statement,
            grant.statement, linked.statement, disabled.statement, revoked.statement, ofApps.statement,
        ]
    }
}
