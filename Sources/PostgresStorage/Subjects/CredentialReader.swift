import AppleAccounts

/// Reads what counts for subjects and one app: the state query's path. One statement, so that all is of one
/// moment; it leaves the subjects' wide rows alone but for their IDs.
struct CredentialReader {
    private static let find = PostgresStatement(
        "find_credentials",
        """
        SELECT k.place, c.*
        FROM unnest($1::text[]) WITH ORDINALITY AS k (sub, place)
        LEFT JOIN LATERAL (
            SELECT id FROM subject WHERE team_id = $2::bigint::integer AND sub = k.sub OFFSET 0) AS known ON true
        LEFT JOIN LATERAL (
            SELECT id FROM subject
            WHERE known.id IS NULL AND team_id = $2::bigint::integer
                AND sub = \(Tombstones.name(team: "$3::text", sub: "k.sub"))
            OFFSET 0) AS left_over ON true
        CROSS JOIN LATERAL (
            SELECT app_id, authorized_at, authorized_source, revoked_at, revoked_reason, revoked_source,
                refresh_token, refresh_token_cause
            FROM credential
            WHERE subject_id = coalesce(known.id, left_over.id)
                AND app_id IN (\(PostgresNames.allApps), $4::bigint::integer)
            OFFSET 0) AS c
        """)

    let names: PostgresNames

    func find(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject], in session: PostgresSession
    ) throws -> [Credential] {
        var records = [CredentialRecord](repeating: CredentialRecord(), count: subjects.count)
        var refreshTokens = [RefreshTokenStatus?](repeating: nil, count: subjects.count)
        if let teamNumber = try names.teams.number(of: team, in: session) {
            // An app without number has no credential; a revocation of all apps holds for it too.
            let app = try names.apps.number(of: clientID, in: session) ?? PostgresNames.allApps
            let rows = try session.run(
                PostgresCall(
                    Self.find,
                    [
                        .texts(subjects.map(\.rawValue)), .integer(teamNumber), .text(team.rawValue),
                        .integer(app),
                    ]))
            for row in 0..<rows.count {
                let place = Int(rows.integer(row, 0) ?? 1) - 1
                records[place].merge(
                    CredentialRecord(
                        authorization: try Authorization(rows, row, at: 2),
                        revocation: try Revocation(rows, row, at: 4)))
                guard rows.integer(row, 1) != PostgresNames.allApps else { continue }
                refreshTokens[place] = try RefreshTokenStatus(
                    storageCode: rows.integer(row, 7), cause: rows.integer(row, 8))
            }
        }
        return zip(records, refreshTokens).map { record, refreshToken in
            Credential(clientID: clientID, record: record, refreshToken: refreshToken)
        }
    }
}
