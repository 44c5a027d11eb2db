import AppleAccounts
import SQLTables

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
