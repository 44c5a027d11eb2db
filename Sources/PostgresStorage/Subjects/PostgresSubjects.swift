import AppleAccounts

/// Reads one subject with all its credentials.
struct PostgresSubjects {
    private static let byAccount = PostgresStatement(
        "find_account", find("account_id = $1::uuid"))
    private static let byKey = PostgresStatement(
        "find_subject", find("team_id = $1::bigint::integer AND sub = $2::text"))
    private static let lockSubject = PostgresStatement(
        "lock_account", "SELECT id FROM subject WHERE account_id = $1::uuid FOR UPDATE")
    private static let lockCredentials = PostgresStatement(
        "lock_credentials_of_account",
        """
        SELECT app_id FROM credential
        WHERE subject_id = (SELECT id FROM subject WHERE account_id = $1::uuid) ORDER BY app_id FOR UPDATE
        """)

    /// One row for each credential, and one for a subject without any.
    private static func find(_ condition: String) -> String {
        """
        SELECT s.*, c.*
        FROM (SELECT team_id, sub, \(SubjectColumns.list) FROM subject WHERE \(condition)) AS s
        LEFT JOIN LATERAL (
            SELECT \(CredentialColumns.list) FROM credential WHERE subject_id = s.id OFFSET 0) AS c ON true
        """
    }

    let names: PostgresNames

    /// - Parameter locking: Whether nobody else is to change it until the transaction ends.
    func find(
        _ id: AccountID, in session: PostgresSession, locking: Bool = false
    ) throws -> (record: SubjectRecord, rowID: Int64)? {
        let value = PostgresValue.uuid(id.uniqueID)
        let locks =
            locking
            ? [PostgresCall(Self.lockSubject, [value]), PostgresCall(Self.lockCredentials, [value])] : []
        let answers = try session.pipeline(locks + [PostgresCall(Self.byAccount, [value])])
        return try read(answers[locks.count], in: session)
    }

    func find(_ key: SubjectKey, in session: PostgresSession) throws -> SubjectRecord? {
        guard let team = try names.teams.number(of: key.team, in: session) else { return nil }
        let call = PostgresCall(Self.byKey, [.integer(team), .text(key.subject.rawValue)])
        return try read(try session.run(call), in: session)?.record
    }

    private func read(
        _ rows: PostgresRows, in session: PostgresSession
    ) throws -> (record: SubjectRecord, rowID: Int64)? {
        guard rows.count > 0 else { return nil }
        guard let team = rows.integer(0, 0), let subject = rows.text(0, 1).flatMap({ AppleSubject($0) }),
            let rowID = rows.integer(0, 2)
        else { throw StorageError(.corrupted, detail: "a subject without name") }
        let key = SubjectKey(team: try names.teams.name(of: team, in: session), subject: subject)
        var record = try SubjectColumns.record(rows, 0, at: 2, key: key)
        for row in 0..<rows.count {
            try CredentialColumns.add(
                rows, row, at: 2 + SubjectColumns.count, to: &record, names, in: session)
        }
        return (record, rowID)
    }
}
