import AppleAccounts
import SQLTables

/// Reads one subject with all its credentials.
struct PostgresSubjects {
    /// The two look-ups, with the same columns: one row for each credential, and one row for a subject
    /// without credentials.
    private struct Find {
        let byAccount: TypedStatement<AccountID>
        let byKey: TypedStatement<Int64, String>
        let subject: SubjectTable
        let credential: CredentialTable

        init() {
            var list = SelectList()
            subject = list.add(SubjectTable.self, as: "s")
            credential = list.add(CredentialTable.self, as: "c", .factsOfApp)
            func find(_ condition: String) -> String {
                """
                SELECT \(list)
                FROM (SELECT \(SubjectTable.names()) FROM subject WHERE \(condition)) AS s
                LEFT JOIN LATERAL (
                    SELECT \(CredentialTable.names(.factsOfApp)) FROM credential
                    WHERE subject_id = s.id OFFSET 0) AS c ON true
                """
            }
            byAccount = TypedStatement("find_account") { find("account_id = \($0)") }
            byKey = TypedStatement("find_subject") { team, name in
                find("team_id = \(team)::integer AND sub = \(name)")
            }
        }
    }

    private static let find = Find()
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

    /// - Parameter locking: Prevents changes by other transactions until this transaction ends.
    func find(
        _ id: AccountID, in session: PostgresSession, locking: Bool = false
    ) throws -> (record: SubjectRecord, rowID: Int64)? {
        let locks = locking ? [Self.lockSubject(id), Self.lockCredentials(id)] : []
        let results = try session.pipeline(locks + [Self.find.byAccount(id)])
        return try read(results[locks.count], in: session)
    }

    func find(_ key: SubjectKey, in session: PostgresSession) throws -> SubjectRecord? {
        guard let team = try names.teams.number(of: key.team, in: session) else { return nil }
        return try read(session.run(Self.find.byKey(team, key.subject.rawValue)), in: session)?.record
    }

    private func read(
        _ rows: PostgresRows, in session: PostgresSession
    ) throws -> (record: SubjectRecord, rowID: Int64)? {
        guard let first = rows.first else { return nil }
        let columns = Self.find.subject
        guard let subject = AppleSubject(try first.required(columns.subject)) else {
            throw StorageError(
                .corrupted, detail: "expected a sub in a subject that was asked for; restore a backup")
        }
        let team = try names.teams.name(of: first.required(columns.teamID), in: session)
        var record = try columns.record(first, key: SubjectKey(team: team, subject: subject))
        for row in rows { try Self.find.credential.add(row, to: &record, names, in: session) }
        return (record, try first.required(columns.id))
    }
}

/// Reads the states of subjects for one app: the path of the state query. One statement, so that all states
/// are of one snapshot; of the wide rows of the subjects it reads only the IDs.
struct CredentialReader {
    private struct Find {
        let statement: TypedStatement<[String], Int64, String, Int64>
        let place: Column<Int64>
        let columns: CredentialTable

        init() {
            var list = SelectList()
            place = list.add("k.place", Int64.self, as: "place")
            columns = list.add(CredentialTable.self, as: "c", .state)
            statement = TypedStatement("find_credentials") { subjects, teamNumber, team, app in
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
        }
    }

    private static let find = Find()

    let names: PostgresNames

    func find(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject], in session: PostgresSession
    ) throws -> [Credential] {
        var records = [CredentialRecord](repeating: CredentialRecord(), count: subjects.count)
        var refreshTokens = [RefreshTokenStatus?](repeating: nil, count: subjects.count)
        var disabledUntil = [Moment?](repeating: nil, count: subjects.count)
        var isKnown = [Bool](repeating: false, count: subjects.count)
        if let teamNumber = try names.teams.number(of: team, in: session) {
            // An app without number has no credential; a revocation of all apps holds for it too.
            let app = try names.apps.number(of: clientID, in: session) ?? AppTable.allApps
            let find = Self.find
            let rows = try session.run(
                find.statement(subjects.map(\.rawValue), teamNumber, team.rawValue, app))
            for row in rows {
                let place = Int(row[find.place] ?? 1) - 1
                records[place].merge(try find.columns.record(row))
                guard row[find.columns.appID] != AppTable.allApps else {
                    disabledUntil[place] = row[find.columns.disabledUntil]
                    continue
                }
                isKnown[place] = true
                refreshTokens[place] = try find.columns.refreshTokenStatus(row)
            }
        }
        return subjects.indices.map { place in
            Credential(
                clientID: clientID, record: records[place], refreshToken: refreshTokens[place],
                disabledUntil: isKnown[place] ? disabledUntil[place] : nil)
        }
    }
}
