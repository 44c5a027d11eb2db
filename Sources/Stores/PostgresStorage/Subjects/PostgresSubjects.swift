import AppleAccounts
import SQLTables

/// The columns of a query for a user and all their credentials. The query returns one row per credential, or
/// a single row if the user has none.
struct UserColumns: Sendable {
    let subject: SubjectTable
    let credential: CredentialTable

    init(_ list: inout SelectList) {
        subject = list.add(SubjectTable.self, as: "s")
        credential = list.add(CredentialTable.self, as: "c", .factsOfApp)
    }

    /// Returns SQL that joins the rows. OFFSET 0 keeps the planner from merging the subqueries.
    static func joined(where condition: String) -> String {
        """
        CROSS JOIN LATERAL (
            SELECT \(SubjectTable.names()) FROM subject WHERE \(condition) OFFSET 0) AS s
        \(credentials)
        """
    }

    static let credentials = """
        LEFT JOIN LATERAL (
            SELECT \(CredentialTable.names(.factsOfApp)) FROM credential
            WHERE subject_id = s.id OFFSET 0) AS c ON true
        """

    /// Reads the user from a row, without the credentials.
    func record(
        _ row: PostgresRow, _ names: PostgresNames, in session: PostgresSession
    ) throws -> SubjectRecord {
        let name = try row.requiredSubject(subject.subject)
        let team = try names.teams.name(of: row.required(subject.teamID), in: session)
        return try subject.record(row, key: SubjectKey(team: team, subject: name))
    }
}

/// Reads one subject with all its credentials.
struct PostgresSubjects {
    private static let byAccount = TypedQuery<UserColumns, AccountID>("find_account") {
        UserColumns(&$0)
    } sql: {
        find($0, "account_id = \($1)")
    }
    private static let byKey = TypedQuery<UserColumns, Int64, String>("find_subject") {
        UserColumns(&$0)
    } sql: {
        find($0, "team_id = \($1)::integer AND sub = \($2)")
    }

    private static func find(_ list: SelectList, _ condition: String) -> String {
        """
        SELECT \(list) FROM (SELECT \(SubjectTable.names()) FROM subject WHERE \(condition)) AS s
        \(UserColumns.credentials)
        """
    }

    private static let lockSubject = TypedStatement<AccountID>("lock_account") {
        "SELECT id FROM subject WHERE account_id = \($0) FOR UPDATE"
    }
    private static let lockCredentials = TypedStatement<AccountID>("lock_credentials_of_account") {
        """
        SELECT app_id FROM credential
        WHERE subject_id = (SELECT id FROM subject WHERE account_id = \($0)) ORDER BY app_id FOR UPDATE
        """
    }

    let names: PostgresNames

    /// - Parameter locking: If true, prevents changes by other transactions until this transaction ends.
    func find(
        _ id: AccountID, in session: PostgresSession, locking: Bool = false
    ) throws -> (record: SubjectRecord, rowID: Int64)? {
        let locks = locking ? [Self.lockSubject(id), Self.lockCredentials(id)] : []
        let results = try session.pipeline(locks + [Self.byAccount.statement(id)])
        return try read(results[locks.count], in: session)
    }

    func find(_ key: SubjectKey, in session: PostgresSession) throws -> SubjectRecord? {
        guard let team = try names.teams.number(of: key.team, in: session) else { return nil }
        return try read(session.run(Self.byKey.statement(team, key.subject.rawValue)), in: session)?.record
    }

    private func read(
        _ rows: PostgresRows, in session: PostgresSession
    ) throws -> (record: SubjectRecord, rowID: Int64)? {
        guard let first = rows.first else { return nil }
        let columns = Self.byAccount.columns
        var record = try columns.record(first, names, in: session)
        for row in rows { try columns.credential.add(row, to: &record, names, in: session) }
        return (record, try first.required(columns.subject.id))
    }
}

/// Reads the states of subjects for one app, for the state query. It uses one statement, so all states come
/// from one snapshot, and reads only the IDs from the subjects' wide rows.
struct CredentialReader {
    private static let find = TypedQuery<
        (place: Column<Int64>, credential: CredentialTable), [String], Int64, String, Int64
    >("find_credentials") {
        ($0.add("k.place", Int64.self, as: "place"), $0.add(CredentialTable.self, as: "c", .state))
    } sql: { list, subjects, teamNumber, team, app in
        """
        SELECT \(list)
        FROM unnest(\(subjects)) WITH ORDINALITY AS k (sub, place)
        LEFT JOIN LATERAL (
            SELECT id FROM subject WHERE team_id = \(teamNumber)::integer AND sub = k.sub OFFSET 0)
            AS known ON true
        LEFT JOIN LATERAL (
            SELECT id FROM subject
            WHERE known.id IS NULL AND team_id = \(teamNumber)::integer
                AND sub = \(Tombstones.name(team: "\(team)", sub: "k.sub"))
            OFFSET 0) AS left_over ON true
        CROSS JOIN LATERAL (
            SELECT \(CredentialTable.names(.state)) FROM credential
            WHERE subject_id = coalesce(known.id, left_over.id)
                AND app_id IN (\(AppTable.allApps), \(app)::integer)
            OFFSET 0) AS c
        """
    }

    let names: PostgresNames

    func find(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject], in session: PostgresSession
    ) throws -> [Credential] {
        var records = [CredentialRecord](repeating: CredentialRecord(), count: subjects.count)
        var refreshTokens = [RefreshTokenStatus?](repeating: nil, count: subjects.count)
        var disabledUntil = [Moment?](repeating: nil, count: subjects.count)
        var isKnown = [Bool](repeating: false, count: subjects.count)
        if let teamNumber = try names.teams.number(of: team, in: session) {
            // An app without a number has no credential, but a revocation of all apps applies to it too.
            let app = try names.apps.number(of: clientID, in: session) ?? AppTable.allApps
            let (place, columns) = Self.find.columns
            let rows = try session.run(
                Self.find.statement(subjects.map(\.rawValue), teamNumber, team.rawValue, app))
            for row in rows {
                let place = Int(row[place] ?? 1) - 1
                records[place].merge(try columns.record(row))
                guard row[columns.appID] != AppTable.allApps else {
                    disabledUntil[place] = row[columns.disabledUntil]
                    continue
                }
                isKnown[place] = true
                refreshTokens[place] = try columns.refreshTokenStatus(row)
            }
        }
        return subjects.indices.map { place in
            Credential(
                clientID: clientID, record: records[place], refreshToken: refreshTokens[place],
                disabledUntil: isKnown[place] ? disabledUntil[place] : nil)
        }
    }
}
