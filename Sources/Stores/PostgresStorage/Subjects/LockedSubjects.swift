import AppleAccounts
import SQLTables

/// Loads the subjects of a batch, and keeps other transactions from changing them until this transaction
/// ends.
///
/// It locks first the names without a row, then the subjects' rows, each in one order, then the tombstones of
/// erased users, then the credentials. Each statement sees the commits that earlier statements waited for.
/// `UnknownSubjectLocks` explains why this is enough.
struct LockedSubjects {
    private struct LockSubjects {
        let statement: TypedStatement<[Int64?], [String?]>
        let place: Column<Int64>
        let columns: SubjectTable

        init() {
            var list = SelectList()
            place = list.add("k.place", Int64.self, as: "place")
            columns = list.add(SubjectTable.self, as: "s", .row)
            statement = TypedStatement("lock_subjects") { teams, names in
                """
                SELECT \(list) FROM unnest(\(teams), \(names)) WITH ORDINALITY AS k (team_id, sub, place)
                CROSS JOIN LATERAL (
                    SELECT \(SubjectTable.names(.row)) FROM subject
                    WHERE team_id = k.team_id::integer AND sub = k.sub FOR UPDATE) AS s
                """
            }
        }
    }

    private struct LockTombstones {
        let statement: TypedStatement<[Int64?], [String?], [String?]>
        let place: Column<Int64>
        let subject: SubjectTable
        let credential: CredentialTable

        init() {
            var list = SelectList()
            place = list.add("k.place", Int64.self, as: "place")
            subject = list.add(SubjectTable.self, as: "s", .only { [$0.id] })
            credential = list.add(CredentialTable.self, as: "c", .only { [$0.revokedAt] })
            statement = TypedStatement("lock_tombstones") { numbers, names, teams in
                """
                SELECT \(list)
                FROM unnest(\(numbers), \(names), \(teams))
                    WITH ORDINALITY AS k (team_id, sub, team, place)
                LEFT JOIN LATERAL (
                    SELECT id FROM subject WHERE team_id = k.team_id::integer AND sub = k.sub OFFSET 0)
                    AS known ON true
                CROSS JOIN LATERAL (
                    SELECT id FROM subject
                    WHERE known.id IS NULL AND team_id = k.team_id::integer
                        AND sub = \(Tombstones.name(team: "k.team", sub: "k.sub"))
                    FOR UPDATE) AS s
                CROSS JOIN LATERAL (
                    SELECT revoked_at FROM credential
                    WHERE subject_id = s.id AND app_id = \(AppTable.allApps) FOR UPDATE) AS c
                """
            }
        }
    }

    private struct LockCredentials {
        let statement: TypedStatement<[Int64?], [String?]>
        let place: Column<Int64>
        let columns: CredentialTable

        init() {
            var list = SelectList()
            place = list.add("k.place", Int64.self, as: "place")
            columns = list.add(CredentialTable.self, as: "c", .factsOfApp)
            statement = TypedStatement("lock_credentials") { teams, names in
                """
                SELECT \(list) FROM unnest(\(teams), \(names)) WITH ORDINALITY AS k (team_id, sub, place)
                CROSS JOIN LATERAL (
                    SELECT id FROM subject WHERE team_id = k.team_id::integer AND sub = k.sub OFFSET 0) AS s
                CROSS JOIN LATERAL (
                    SELECT \(CredentialTable.names(.factsOfApp)) FROM credential
                    WHERE subject_id = s.id ORDER BY app_id FOR UPDATE) AS c
                """
            }
        }
    }

    private static let lockSubjects = LockSubjects()
    private static let lockTombstones = LockTombstones()
    private static let lockCredentials = LockCredentials()

    let names: PostgresNames
    /// Indicates that the transaction has already locked all names, including names with a row.
    let areNamesLocked: Bool

    /// Locks names, with or without a row, and the rows. Loads nothing.
    static func lockAll(_ keys: SubjectKeyArrays) -> [PostgresCall] {
        [UnknownSubjectLocks.lockAll(keys), lockSubjects.statement(keys.teamNumbers, keys.names)]
    }

    /// Returns the statements that lock and load.
    func calls(for keys: SubjectKeyArrays) -> [PostgresCall] {
        guard !keys.isEmpty else { return [] }
        let nameCalls = areNamesLocked ? [] : [UnknownSubjectLocks.lockUnknown(keys)]
        return nameCalls + [
            Self.lockSubjects.statement(keys.teamNumbers, keys.names),
            Self.lockTombstones.statement(keys.teamNumbers, keys.names, keys.teams),
            Self.lockCredentials.statement(keys.teamNumbers, keys.names),
        ]
    }

    /// Loads the results into a working set. Returns the row ID of each subject, `nil` for subjects without a
    /// row.
    ///
    /// - Throws: `PostgresError` that is worth repeating when a row vanished during the wait for its lock.
    func load(
        _ results: ArraySlice<PostgresRows>, of keys: SubjectKeyArrays, into set: inout WorkingSet,
        in session: PostgresSession
    ) throws -> [Int64?] {
        var rowIDs = [Int64?](repeating: nil, count: set.subjectKeys.count)
        guard !keys.isEmpty else { return rowIDs }
        var results = results
        var isLocked = [Bool](repeating: areNamesLocked, count: set.subjectKeys.count)
        if !areNamesLocked, let locked = results.popFirst() {
            for place in UnknownSubjectLocks.places(in: locked) { isLocked[keys.position(place)] = true }
        }
        guard let subjects = results.popFirst(), let tombstones = results.popFirst(),
            let credentials = results.popFirst()
        else { throw StorageError(.unavailable, detail: "expected the results of three statements") }

        var records = [SubjectRecord?](repeating: nil, count: set.subjectKeys.count)
        for row in subjects {
            let position = keys.position(row[Self.lockSubjects.place])
            rowIDs[position] = row[Self.lockSubjects.columns.id]
            records[position] = try Self.lockSubjects.columns.record(row, key: set.subjectKeys[position])
            isLocked[position] = true
        }
        guard isLocked.allSatisfy({ $0 }) else { throw PostgresError.rowVanished }
        for row in tombstones {
            let position = keys.position(row[Self.lockTombstones.place])
            guard records[position] == nil, let moment = row[Self.lockTombstones.credential.revokedAt]
            else { continue }
            rowIDs[position] = row[Self.lockTombstones.subject.id]
            set.load(SubjectRecord(tombstoneOf: set.subjectKeys[position], erasedAt: moment), at: position)
        }
        for row in credentials {
            let position = keys.position(row[Self.lockCredentials.place])
            guard var record = records[position].take() else { continue }
            try Self.lockCredentials.columns.add(row, to: &record, names, in: session)
            records[position] = record
        }
        for (position, record) in records.enumerated() {
            if let record { set.load(record, at: position) }
        }
        return rowIDs
    }
}
