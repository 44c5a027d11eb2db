import AppleAccounts
import SQLTables

/// Subjects as they were read without a lock, with the versions of their credentials' rows.
struct SeenSubjects {
    private struct Find {
        let statement: TypedStatement<[Int64?], [String?]>
        let place: Column<Int64>
        let subject: SubjectTable
        let credential: CredentialTable
        let version: Column<Int64>

        init() {
            var list = SelectList()
            place = list.add("k.place", Int64.self, as: "place")
            subject = list.add(SubjectTable.self, as: "s", .row)
            credential = list.add(CredentialTable.self, as: "c", .factsOfApp)
            version = list.add("c.version", Int64.self, as: "version")
            statement = TypedStatement("see_subjects") { teams, names in
                """
                SELECT \(list)
                FROM unnest(\(teams), \(names)) WITH ORDINALITY AS k (team_id, sub, place)
                CROSS JOIN LATERAL (
                    SELECT \(SubjectTable.names(.row)) FROM subject
                    WHERE team_id = k.team_id::integer AND sub = k.sub OFFSET 0) AS s
                LEFT JOIN LATERAL (
                    SELECT \(CredentialTable.names(.factsOfApp)), xmin::text::bigint AS version
                    FROM credential
                    WHERE subject_id = s.id ORDER BY app_id OFFSET 0) AS c ON true
                """
            }
        }
    }

    private struct Update {
        let name: CredentialTable
        let version: Column<Int64>
        let facts: CredentialTable
        let statement: RowStatement

        init() {
            var rows = RowParameters()
            name = rows.add(CredentialTable.self, .only { [$0.subjectID, $0.appID] })
            version = rows.add("version", Int64.self)
            facts = rows.add(CredentialTable.self, .signIn)
            statement = RowStatement(
                "update_seen_credentials", rows,
                """
                WITH changed AS (
                    UPDATE credential AS c SET \(CredentialTable.names(.signIn).assigned(from: "n"))
                    FROM \(rows.relation("n"))
                    WHERE c.subject_id = n.subject_id AND c.app_id = n.app_id::integer
                        AND c.xmin = n.version::text::xid
                    RETURNING 1)
                SELECT expect_rows(count(*), \(rows.rowCount)) FROM changed
                """)
        }
    }

    private static let find = Find()
    private static let update = Update()

    private struct Version {
        let rowID: Int64
        let app: Int64
        let version: Int64
        let clientID: ClientID?
    }

    /// By the places of the subjects.
    private var versions: [[Version]] = []
    /// The places in the order in which all replicas lock credentials.
    private var order: [Int] = []
    /// Whether there is a row for each.
    private(set) var areAllKnown = true

    static func call(for keys: SubjectKeyArrays) -> PostgresCall? {
        keys.isEmpty ? nil : find.statement(keys.teamNumbers, keys.names)
    }

    /// Of no subjects.
    init() {}

    /// Puts the result into a working set.
    init(
        _ rows: PostgresRows, of keys: SubjectKeyArrays, into set: inout WorkingSet, _ names: PostgresNames,
        in session: PostgresSession
    ) throws {
        order = keys.positions
        versions = Array(repeating: [], count: set.subjectKeys.count)
        let columns = Self.find
        var (number, knownCount) = (0, 0)
        while number < rows.count {
            knownCount += 1
            let place = rows[number][columns.place]
            let position = keys.position(place)
            var record = try columns.subject.record(rows[number], key: set.subjectKeys[position])
            // The rows of one subject follow each other.
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
        _ row: PostgresRow, _ columns: Find, _ names: PostgresNames, in session: PostgresSession
    ) throws -> Version? {
        guard let rowID = row[columns.subject.id], let app = row[columns.credential.appID],
            let version = row[columns.version]
        else { return nil }
        let clientID = app == PostgresNames.allApps ? nil : try names.apps.name(of: app, in: session)
        return Version(rowID: rowID, app: app, version: version, clientID: clientID)
    }

    /// What writes the credentials that changed, and ends the transaction if one of them is not what was
    /// seen. Nothing of theirs but what a sign-in changes.
    func updateCalls(for set: WorkingSet) -> [PostgresCall] {
        var (seen, credentials, emails): ([Version], [AppCredential], [Moment?]) = ([], [], [])
        for position in order {
            let record = set.subjects[position]
            // In the order of the apps' numbers, in which all replicas lock them.
            for version in versions[position] {
                guard let credential = record.credentials.first(where: { $0.clientID == version.clientID }),
                    credential.rowChange == .update
                else { continue }
                seen.append(version)
                credentials.append(credential)
                emails.append(record.email?.moment)
            }
        }
        guard !seen.isEmpty else { return [] }
        let update = Self.update
        return [
            update.statement.call { values in
                values.set(update.name.subjectID, seen.map(\.rowID))
                values.set(update.name.appID, seen.map(\.app))
                values.set(update.version, seen.map(\.version))
                update.facts.setSignIn(credentials, emails: emails, in: &values)
            }
        ]
    }
}
