import AppleAccounts
import SQLTables

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
