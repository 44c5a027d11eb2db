import AppleAccounts

/// Loads the subjects of a batch and keeps everybody else from changing them until the transaction ends.
///
/// First the names that have no row, then the subjects' rows, each in one order, then what is left of those who were
/// erased, then the credentials. Each statement sees what was committed while the ones before it waited.
/// `UnknownSubjectLocks` says why that is enough.
struct LockedSubjects {
    private static let lockSubjects = PostgresStatement(
        "lock_subjects",
        """
        SELECT k.place, s.* FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS k (team_id, sub, place)
        CROSS JOIN LATERAL (
            SELECT \(SubjectColumns.list) FROM subject
            WHERE team_id = k.team_id::integer AND sub = k.sub FOR UPDATE) AS s
        """)

    private static let lockTombstones = PostgresStatement(
        "lock_tombstones",
        """
        SELECT k.place, s.id, c.revoked_at
        FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS k (team_id, sub, team, place)
        LEFT JOIN LATERAL (
            SELECT id FROM subject WHERE team_id = k.team_id::integer AND sub = k.sub OFFSET 0) AS known ON true
        CROSS JOIN LATERAL (
            SELECT id FROM subject
            WHERE known.id IS NULL AND team_id = k.team_id::integer
                AND sub = \(Tombstones.name(team: "k.team", sub: "k.sub"))
            FOR UPDATE) AS s
        CROSS JOIN LATERAL (
            SELECT revoked_at FROM credential
            WHERE subject_id = s.id AND app_id = \(PostgresNames.allApps) FOR UPDATE) AS c
        """)

    private static let lockCredentials = PostgresStatement(
        "lock_credentials",
        """
        SELECT k.place, c.* FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS k (team_id, sub, place)
        CROSS JOIN LATERAL (
            SELECT id FROM subject WHERE team_id = k.team_id::integer AND sub = k.sub OFFSET 0) AS s
        CROSS JOIN LATERAL (
            SELECT \(CredentialColumns.list) FROM credential
            WHERE subject_id = s.id ORDER BY app_id FOR UPDATE) AS c
        """)

    let names: PostgresNames
    /// Whether the transaction has locked all names already, those with a row too.
    let areNamesLocked: Bool

    /// Locks names, whether they have a row or not, and the rows, and loads nothing.
    static func lockAll(_ keys: SubjectKeyArrays) -> [PostgresCall] {
        [UnknownSubjectLocks.lockAll(keys), PostgresCall(lockSubjects, keys.numbersAndNames)]
    }

    /// What to ask the database for.
    func calls(for keys: SubjectKeyArrays) -> [PostgresCall] {
        guard !keys.isEmpty else { return [] }
        let nameCalls = areNamesLocked ? [] : [UnknownSubjectLocks.lockUnknown(keys)]
        return nameCalls + [
            PostgresCall(Self.lockSubjects, keys.numbersAndNames),
            PostgresCall(Self.lockTombstones, keys.numbersNamesAndTeams),
            PostgresCall(Self.lockCredentials, keys.numbersAndNames),
        ]
    }

    /// Puts the answers into a working set. Returns the row ID of each subject, `nil` for those without a row.
    ///
    /// - Throws: `PostgresError` that is worth repeating when a row vanished while it was waited for.
    func load(
        _ answers: ArraySlice<PostgresRows>, of keys: SubjectKeyArrays, into set: inout WorkingSet,
        in session: PostgresSession
    ) throws -> [Int64?] {
        var rowIDs = [Int64?](repeating: nil, count: set.subjectKeys.count)
        guard !keys.isEmpty else { return rowIDs }
        var records = [SubjectRecord?](repeating: nil, count: set.subjectKeys.count)
        func position(_ rows: PostgresRows, _ row: Int) -> Int {
            keys.positions[Int(rows.integer(row, 0) ?? 0) - 1]
        }

        var answers = answers
        var isLocked = [Bool](repeating: areNamesLocked, count: set.subjectKeys.count)
        if !areNamesLocked, let locked = answers.popFirst() {
            for row in 0..<locked.count { isLocked[position(locked, row)] = true }
        }
        let subjects = answers[answers.startIndex]
        for row in 0..<subjects.count {
            let position = position(subjects, row)
            rowIDs[position] = subjects.integer(row, 1)
            records[position] = try SubjectColumns.record(
                subjects, row, at: 1, key: set.subjectKeys[position])
            isLocked[position] = true
        }
        guard isLocked.allSatisfy({ $0 }) else { throw PostgresError.rowVanished }
        let tombstones = answers[answers.startIndex + 1]
        for row in 0..<tombstones.count {
            let position = position(tombstones, row)
            guard records[position] == nil, let moment = tombstones.moment(row, 2) else { continue }
            rowIDs[position] = tombstones.integer(row, 1)
            set.load(SubjectRecord(tombstoneOf: set.subjectKeys[position], erasedAt: moment), at: position)
        }
        let credentials = answers[answers.startIndex + 2]
        for row in 0..<credentials.count {
            let position = position(credentials, row)
            guard var record = records[position].take() else { continue }
            try CredentialColumns.add(credentials, row, at: 1, to: &record, names, in: session)
            records[position] = record
        }
        for (position, record) in records.enumerated() {
            if let record { set.load(record, at: position) }
        }
        return rowIDs
    }
}
