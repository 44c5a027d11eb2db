import AppleAccounts
import SQLTables

/// Loads a batch's subjects, and keeps other transactions from changing them until this transaction ends.
///
/// The statements lock first the names without a row and then the subjects' rows, each in one order, then the
/// tombstones of erased users, then the credentials. Each statement sees the commits that earlier statements
/// waited for. `UnknownSubjectLocks` explains why this is enough.
struct LockedSubjects {
    private static let lockSubjects = TypedQuery<
        (place: Column<Int64>, subject: SubjectTable), [Int64?], [String?]
    >("lock_subjects") {
        ($0.add("k.place", Int64.self, as: "place"), $0.add(SubjectTable.self, as: "s", .row))
    } sql: { list, teams, names in
        """
        SELECT \(list) FROM unnest(\(teams), \(names)) WITH ORDINALITY AS k (team_id, sub, place)
        CROSS JOIN LATERAL (
            SELECT \(SubjectTable.names(.row)) FROM subject
            WHERE team_id = k.team_id::integer AND sub = k.sub FOR UPDATE) AS s
        """
    }
    private static let lockTombstones = TypedQuery<
        (place: Column<Int64>, subject: SubjectTable, credential: CredentialTable), [Int64?], [String?],
        [String?]
    >("lock_tombstones") {
        (
            $0.add("k.place", Int64.self, as: "place"), $0.add(SubjectTable.self, as: "s", .only { [$0.id] }),
            $0.add(CredentialTable.self, as: "c", .only { [$0.revokedAt] })
        )
    } sql: { list, numbers, names, teams in
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
    private static let lockCredentials = TypedQuery<
        (place: Column<Int64>, credential: CredentialTable), [Int64?], [String?]
    >("lock_credentials") {
        ($0.add("k.place", Int64.self, as: "place"), $0.add(CredentialTable.self, as: "c", .factsOfApp))
    } sql: { list, teams, names in
        """
        SELECT \(list) FROM unnest(\(teams), \(names)) WITH ORDINALITY AS k (team_id, sub, place)
        CROSS JOIN LATERAL (
            SELECT id FROM subject WHERE team_id = k.team_id::integer AND sub = k.sub OFFSET 0) AS s
        CROSS JOIN LATERAL (
            SELECT \(CredentialTable.names(.factsOfApp)) FROM credential
            WHERE subject_id = s.id ORDER BY app_id FOR UPDATE) AS c
        """
    }

    let names: PostgresNames
    /// True if the transaction has already locked all names, including names with a row.
    let areNamesLocked: Bool

    /// Locks names, with or without a row, and the rows. Loads no data.
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

    /// Loads the results into a working set. Returns each subject's row ID, `nil` for subjects without a row.
    ///
    /// - Throws: `PostgresError` that is worth repeating, if a row vanished during the wait for its lock.
    func load(
        _ results: ArraySlice<PostgresRows>, of keys: SubjectKeyArrays, into set: inout WorkingSet,
        in session: PostgresSession
    ) throws -> [Int64?] {
        var rowIDs = [Int64?](repeating: nil, count: set.subjectKeys.count)
        guard !keys.isEmpty else { return rowIDs }
        let columns = (
            subjects: Self.lockSubjects.columns, tombstones: Self.lockTombstones.columns,
            credentials: Self.lockCredentials.columns
        )
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
            let position = keys.position(row[columns.subjects.place])
            rowIDs[position] = row[columns.subjects.subject.id]
            records[position] = try columns.subjects.subject.record(row, key: set.subjectKeys[position])
            isLocked[position] = true
        }
        guard isLocked.allSatisfy({ $0 }) else { throw PostgresError.rowVanished }
        for row in tombstones {
            let position = keys.position(row[columns.tombstones.place])
            guard records[position] == nil, let moment = row[columns.tombstones.credential.revokedAt]
            else { continue }
            rowIDs[position] = row[columns.tombstones.subject.id]
            set.load(SubjectRecord(tombstoneOf: set.subjectKeys[position], erasedAt: moment), at: position)
        }
        for row in credentials {
            let position = keys.position(row[columns.credentials.place])
            guard var record = records[position].take() else { continue }
            try columns.credentials.credential.add(row, to: &record, names, in: session)
            records[position] = record
        }
        for (position, record) in records.enumerated() {
            if let record { set.load(record, at: position) }
        }
        return rowIDs
    }
}

/// Locks for users without a row to lock.
///
/// A subject has at most one row, because its name is unique. While a transaction holds the row's lock, no
/// other transaction can erase or rename the subject, or insert a second row with the same name. A name
/// without a row has an advisory lock instead, and the rule is: **only a transaction that holds the name's
/// lock gives the name a row.** Sign-ins, notifications and transfers give names rows. An erasure or a
/// transfer that removes a row's name holds the row's lock, which is enough; it also holds the name's lock if
/// the name is the subject of a command.
///
/// A batch therefore locks the names without a row, then reads the rows with a lock, then the tombstones.
/// Each statement begins only when the previous statement has all its locks, so it sees the commits that the
/// previous statement waited for:
///
/// - The row exists: it is locked, and stays unchanged until the commit.
/// - The row does not exist, and the name is locked: no other transaction can insert a row, so the name has
///   no row until the commit. An erasure that removed the row must have committed before, so its tombstone is
///   visible.
/// - The row does not exist, and the name is not locked, because the row existed when the names were looked
///   up: nothing protects the name, so the batch is repeated.
///
/// A transaction's first statement takes all its name locks, in number order and before any row lock. So a
/// transaction that waits for a name holds only names with lower numbers, and waiting transactions cannot
/// form a cycle.
enum UnknownSubjectLocks {
    /// Number of locks that all names share. PostgreSQL keeps locks in a table for the whole server, with
    /// room for `max_locks_per_transaction` (64) times `max_connections` (100), and a flood of new users must
    /// not fill it. Batches with different names can share a lock and wait for each other. This is rare with
    /// few new users, and with very many they would wait for each other at the event counter anyway.
    static let count: UInt64 = 1024

    /// The first of the two numbers that identify a lock: "siwa" in ASCII.
    private static let space = 0x7369_7761

    private static let lockUnknownStatement = TypedQuery<Column<Int64>, [Int64?], [String?], [Int64]>(
        "lock_unknown_subjects"
    ) {
        $0.add("k.place", Int64.self, as: "place")
    } sql: { list, teams, names, numbers in
        """
        SELECT \(list), pg_advisory_xact_lock(\(space), k.number::integer)
        FROM (
            SELECT k.place, k.number
            FROM unnest(\(teams), \(names), \(numbers)) WITH ORDINALITY AS k (team_id, sub, number, place)
            LEFT JOIN LATERAL (
                SELECT id FROM subject WHERE team_id = k.team_id::integer AND sub = k.sub OFFSET 0)
                AS known ON true
            WHERE known.id IS NULL
            ORDER BY k.number) AS k
        """
    }
    private static let lockAllStatement = TypedStatement<[Int64]>("lock_all_subjects") { numbers in
        "SELECT pg_advisory_xact_lock(\(space), k.number::integer) FROM unnest(\(numbers)) AS k (number)"
    }

    /// Locks the names without a row.
    static func lockUnknown(_ keys: SubjectKeyArrays) -> PostgresCall {
        lockUnknownStatement.statement(keys.teamNumbers, keys.names, keys.lockNumbers)
    }

    /// Reads the result of `lockUnknown`: the places of the names without a row, counted from 1.
    static func places(in rows: PostgresRows) -> [Int64?] { rows.map { $0[lockUnknownStatement.columns] } }

    /// Locks all names, for a batch whose commands change the row of a name.
    static func lockAll(_ keys: SubjectKeyArrays) -> PostgresCall {
        lockAllStatement(Set(keys.lockNumbers).sorted())
    }

    /// Returns a number that is the same in every replica of every version: the 64-bit FNV-1a hash of team,
    /// line feed and `sub`, followed by the last steps of SplitMix64. Without these steps, names that differ
    /// only in their last characters would share few numbers.
    static func number(of key: SubjectKey) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for byte in key.team.rawValue.utf8 { add(byte) }
        add(UInt8(ascii: "\n"))
        for byte in key.subject.rawValue.utf8 { add(byte) }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int64((hash ^ (hash >> 31)) % count)
    }
}

/// A batch's subjects in the order in which all replicas lock them, as arrays for a statement.
struct SubjectKeyArrays {
    /// Each subject's position in the batch.
    let positions: [Int]
    private let keys: [SubjectKey]
    /// Arrays in this order: team numbers, team names, and each subject's `sub`.
    let teamNumbers: [Int64?]
    let teams: [String?]
    let names: [String?]

    init(_ keys: [SubjectKey], _ tables: PostgresNames) throws {
        let order = keys.indices.sorted { keys[$0] < keys[$1] }
        positions = order
        self.keys = keys
        teamNumbers = try order.map { try tables.teams.ensuredNumber(of: keys[$0].team) }
        teams = order.map { keys[$0].team.rawValue }
        names = order.map { keys[$0].subject.rawValue }
    }

    var isEmpty: Bool { positions.isEmpty }

    /// Numbers of the locks that protect the subjects while they have no row.
    var lockNumbers: [Int64] { positions.map { UnknownSubjectLocks.number(of: keys[$0]) } }

    /// Returns the position in the batch for a place in a result, which PostgreSQL counts from 1.
    func position(_ place: Int64?) -> Int { positions[Int(place ?? 0) - 1] }
}

/// SQL that finds an erased user's tombstone.
enum Tombstones {
    /// Returns `SubjectKey.tombstoneName` as SQL, so that it is computed only for users without a row.
    static func name(team: String, sub: String) -> String {
        "chr(1) || encode(sha256(convert_to(\(team) || chr(10) || \(sub), 'UTF8')), 'hex')"
    }
}
