import AppleAccounts
import SQLTables

/// Commits a batch that contains only App Attest proofs, and sign-ins by known users without new facts. It
/// locks no rows that it does not write. Nearly all batches are of this kind.
///
/// Reads the rows, applies the commands, and then changes each credential only if its row still has the
/// version that was read. Every transaction that changes a subject's row, or a fact that holds for all apps,
/// also rewrites the subject's credentials, so this one condition covers everything that a sign-in depends
/// on. A key's counter rises only if the stored counter is still lower.
struct QuietBatch {
    let names: PostgresNames
    let sealing: any AppleTokenSealing

    /// Returns true if these commands may use the quiet path.
    static func isPossible(_ commands: [AccountCommand]) -> Bool {
        commands.allSatisfy { command in
            switch command {
            case .signIn(let signIn): signIn.transferSubject == nil
            case .useProof: true
            case .notification, .finishExchange, .rejectRefreshToken, .erase, .transfer, .registerKey,
                .disable,
                .enable, .signOut:
                false
            }
        }
    }

    /// Returns `nil`, without any change, if the batch has more to write or a row has changed since.
    func commitIfQuiet(_ commands: [AccountCommand], in session: PostgresSession) throws -> CommitResult? {
        var set = WorkingSet(commands)
        let seen = try load(&set, in: session)
        // A user without a row may have a tombstone, which only `LockingBatch` reads.
        guard seen.areAllKnown else { return nil }
        var generator = SystemRandomNumberGenerator()
        let results = set.applyCommands(using: &generator)
        guard set.isQuiet else { return nil }
        var calls = seen.updateCalls(for: set)
        // This call precedes the nonce insertion, as in `LockingBatch`.
        if let keyCall = AttestedKeyRows.raiseCall(set) { calls.append(keyCall) }
        if let nonceCall = NonceRows.insertCall(set) { calls.append(nonceCall) }
        calls += try PostgresAppleTokenWriter.calls(for: set.appleTokenChanges, sealing: sealing)
        if let historyCall = try HistoryRows.appendCall(set, names) { calls.append(historyCall) }
        if calls.count > 1 { calls = [.begin] + calls + [.commit] }
        do {
            _ = try session.pipeline(calls)
        } catch let error as PostgresError where error.isWorthRepeating {
            return nil
        }
        return CommitResult(results: results, lastEventSequence: nil)
    }

    private func load(_ set: inout WorkingSet, in session: PostgresSession) throws -> SeenSubjects {
        let keys = try SubjectKeyArrays(set.subjectKeys, names)
        let nonceCall = NonceRows.findCall(set.nonceDigests)
        let keyCall = AttestedKeyRows.findCall(set.attestedKeyIDs)
        let calls = [SeenSubjects.call(for: keys), nonceCall, keyCall].compactMap { $0 }
        let results = try session.pipeline(calls)
        var rest = results[...]
        if keyCall != nil, let rows = rest.popLast() { try AttestedKeyRows.load(rows, into: &set) }
        if nonceCall != nil, let nonces = rest.popLast() { NonceRows.load(nonces, into: &set) }
        guard !keys.isEmpty else { return SeenSubjects() }
        return try SeenSubjects(results[0], of: keys, into: &set, names, in: session)
    }
}

extension WorkingSet {
    /// True if the batch writes only existing credentials, nonces, counters, new codes and histories.
    fileprivate var isQuiet: Bool {
        guard events.isEmpty, audit.isEmpty, keptNotifications.isEmpty, erasures.isEmpty, rekeying == nil,
            finishedTransfers.isEmpty
        else { return false }
        let onlyNewCodes = appleTokenChanges.allSatisfy { change in
            if case .insertCode = change { true } else { false }
        }
        return onlyNewCodes
            && subjects.allSatisfy { subject in
                subject.rowChange == .none && subject.credentials.allSatisfy { $0.rowChange != .insert }
            }
    }
}

/// Subjects read without a lock, with the row versions of their credentials.
struct SeenSubjects {
    private typealias Columns = (
        place: Column<Int64>, subject: SubjectTable, credential: CredentialTable, rowPlace: Column<RowPlace>,
        writer: Column<TransactionNumber>
    )

    private static let find = TypedQuery<Columns, [Int64?], [String?]>("see_subjects") {
        (
            $0.add("k.place", Int64.self, as: "place"), $0.add(SubjectTable.self, as: "s", .row),
            $0.add(CredentialTable.self, as: "c", .factsOfApp),
            $0.add("c.row_place", RowPlace.self, as: "row_place"),
            $0.add("c.writer", TransactionNumber.self, as: "writer")
        )
    } sql: { list, teams, names in
        """
        SELECT \(list)
        FROM unnest(\(names)) WITH ORDINALITY AS k (sub, place)
        CROSS JOIN LATERAL (
            SELECT \(SubjectTable.names(.row)) FROM subject
            WHERE team_id = (\(teams))[k.place::integer]::integer AND sub = k.sub OFFSET 0) AS s
        LEFT JOIN LATERAL (
            SELECT \(CredentialTable.names(.factsOfApp)), ctid AS row_place, xmin AS writer
            FROM credential
            WHERE subject_id = s.id ORDER BY app_id OFFSET 0) AS c ON true
        """
    }

    /// Updates each row by the `ctid` that was read, without using the index. It also compares the key, in
    /// case the table was rewritten in the meantime; adding 0 keeps the planner from using the index.
    private static let update = RowWrite<
        (
            rowPlace: Column<RowPlace>, writer: Column<TransactionNumber>, name: CredentialTable,
            facts: CredentialTable
        )
    >("update_seen_credentials") {
        (
            $0.add("row_place", RowPlace.self), $0.add("writer", TransactionNumber.self),
            $0.add(CredentialTable.self, .only { [$0.subjectID, $0.appID] }),
            $0.add(CredentialTable.self, .signIn)
        )
    } sql: { rows, _ in
        """
        WITH changed AS (
            UPDATE credential AS c SET \(CredentialTable.names(.signIn).assigned(from: "n"))
            FROM \(rows.elements("n"))
            WHERE c.ctid = n.row_place AND c.xmin = n.writer
                AND c.subject_id + 0 = n.subject_id AND c.app_id + 0 = n.app_id
            RETURNING 1)
        SELECT expect_rows(count(*), \(rows.rowCount)) FROM changed
        """
    }

    private struct Version {
        let rowPlace: RowPlace
        let writer: TransactionNumber
        let rowID: Int64
        let app: Int64
        let clientID: ClientID?
    }

    /// The versions of each subject's credentials, by the subject's position.
    private var versions: [[Version]] = []
    /// The subjects' positions, in the order in which all replicas lock credentials.
    private var order: [Int] = []
    /// True if every subject has a row.
    private(set) var areAllKnown = true

    static func call(for keys: SubjectKeyArrays) -> PostgresCall? {
        keys.isEmpty ? nil : find.statement(keys.teamNumbers, keys.names)
    }

    /// Creates a value without subjects.
    init() {}

    /// Loads the result into a working set.
    init(
        _ rows: PostgresRows, of keys: SubjectKeyArrays, into set: inout WorkingSet, _ names: PostgresNames,
        in session: PostgresSession
    ) throws {
        order = keys.positions
        versions = Array(repeating: [], count: set.subjectKeys.count)
        let columns = Self.find.columns
        var (number, knownCount) = (0, 0)
        while number < rows.count {
            knownCount += 1
            let place = rows[number][columns.place]
            let position = keys.position(place)
            var record = try columns.subject.record(rows[number], key: set.subjectKeys[position])
            // A subject's rows are adjacent, so the loop ends at the next subject.
            while number < rows.count, rows[number][columns.place] == place {
                let row = rows[number]
                try columns.credential.add(row, to: &record, names, in: session)
                if let version = try Self.version(row, columns, names, in: session) {
                    versions[position].append(version)
                }
                number += 1
            }
            set.load(record, at: position)
        }
        areAllKnown = knownCount == set.subjectKeys.count
    }

    /// Returns `nil` for a subject without credentials.
    private static func version(
        _ row: PostgresRow, _ columns: Columns, _ names: PostgresNames, in session: PostgresSession
    ) throws -> Version? {
        guard let rowID = row[columns.subject.id], let app = row[columns.credential.appID],
            let rowPlace = row[columns.rowPlace], let writer = row[columns.writer]
        else { return nil }
        let clientID = app == AppTable.allApps ? nil : try names.apps.name(of: app, in: session)
        return Version(rowPlace: rowPlace, writer: writer, rowID: rowID, app: app, clientID: clientID)
    }

    /// Returns statements that write the changed credentials, but only the columns that a sign-in changes.
    /// They abort the transaction if a row no longer has the version that was read.
    func updateCalls(for set: WorkingSet) -> [PostgresCall] {
        var changed: [(version: Version, credential: AppCredential, email: Moment?)] = []
        for position in order {
            let record = set.subjects[position]
            // The writes are in app number order, because all replicas lock credentials in this order.
            for version in versions[position] {
                guard let credential = record.credentials.first(where: { $0.clientID == version.clientID }),
                    credential.rowChange == .update
                else { continue }
                changed.append((version, credential, record.email?.moment))
            }
        }
        guard !changed.isEmpty else { return [] }
        let columns = Self.update.columns
        return [
            Self.update.statement.call(changed) { item, row in
                row.set(columns.rowPlace, item.version.rowPlace)
                row.set(columns.writer, item.version.writer)
                row.set(columns.name.subjectID, item.version.rowID)
                row.set(columns.name.appID, item.version.app)
                columns.facts.write(item.credential, email: item.email, to: row)
            }
        ]
    }
}
