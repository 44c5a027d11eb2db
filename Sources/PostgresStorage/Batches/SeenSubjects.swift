import AppleAccounts

/// Subjects as they were read without a lock, with the versions of their credentials' rows.
struct SeenSubjects {
    private static let find = PostgresStatement(
        "see_subjects",
        """
        SELECT k.place, s.*, c.*
        FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS k (team_id, sub, place)
        CROSS JOIN LATERAL (
            SELECT \(SubjectColumns.list) FROM subject
            WHERE team_id = k.team_id::integer AND sub = k.sub OFFSET 0) AS s
        LEFT JOIN LATERAL (
            SELECT \(CredentialColumns.list), xmin::text::bigint AS version FROM credential
            WHERE subject_id = s.id ORDER BY app_id OFFSET 0) AS c ON true
        """)

    private static let update = PostgresStatement(
        "update_seen_credentials",
        """
        WITH changed AS (
            UPDATE credential AS c SET
                authorized_at = n.authorized_at, authorized_source = n.authorized_source,
                last_sign_in_at = n.last_sign_in_at, email_at = n.email_at, refresh_token = n.refresh_token,
                refresh_token_cause = n.refresh_token_cause
            FROM unnest(
                $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
                $8::bigint[], $9::bigint[])
            AS n (
                subject_id, app_id, version, authorized_at, authorized_source, last_sign_in_at, email_at,
                refresh_token, refresh_token_cause)
            WHERE c.subject_id = n.subject_id AND c.app_id = n.app_id::integer
                AND c.xmin = n.version::text::xid
            RETURNING 1)
        SELECT expect_rows(count(*), $10::bigint) FROM changed
        """)

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
        keys.isEmpty ? nil : PostgresCall(find, keys.numbersAndNames)
    }

    /// Of no subjects.
    init() {}

    /// Puts the answer into a working set.
    init(
        _ rows: PostgresRows, of keys: SubjectKeyArrays, into set: inout WorkingSet, _ names: PostgresNames,
        in session: PostgresSession
    ) throws {
        order = keys.positions
        versions = Array(repeating: [], count: set.subjectKeys.count)
        let firstCredential = 1 + SubjectColumns.count
        var (row, knownCount) = (0, 0)
        while row < rows.count {
            knownCount += 1
            let place = rows.integer(row, 0)
            let position = keys.positions[Int(place ?? 1) - 1]
            var record = try SubjectColumns.record(rows, row, at: 1, key: set.subjectKeys[position])
            // The rows of one subject follow each other.
            while row < rows.count, rows.integer(row, 0) == place {
                try CredentialColumns.add(rows, row, at: firstCredential, to: &record, names, in: session)
                if let rowID = rows.integer(row, 1), let app = rows.integer(row, firstCredential),
                    let version = rows.integer(row, firstCredential + CredentialColumns.count)
                {
                    let clientID =
                        app == PostgresNames.allApps ? nil : try names.apps.name(of: app, in: session)
                    versions[position].append(
                        Version(rowID: rowID, app: app, version: version, clientID: clientID))
                }
                row += 1
            }
            set.load(record, at: position)
        }
        areAllKnown = knownCount == set.subjectKeys.count
    }

    /// What writes the credentials that changed, and ends the transaction if one of them is not what was seen.
    /// Nothing of theirs but what a sign-in changes.
    func updateCalls(for set: WorkingSet) -> [PostgresCall] {
        var (rowIDs, apps, rowVersions): ([Int64?], [Int64?], [Int64?]) = ([], [], [])
        var (moments, sources, signIns, emails): ([Moment?], [Int64?], [Moment?], [Moment?]) = (
            [], [], [], []
        )
        var (tokens, causes): ([Int64?], [Int64?]) = ([], [])
        for position in order {
            let record = set.subjects[position]
            // In the order of the apps' numbers, as everybody locks them.
            for seen in versions[position] {
                guard let credential = record.credentials.first(where: { $0.clientID == seen.clientID }),
                    credential.rowChange == .update
                else { continue }
                rowIDs.append(seen.rowID)
                apps.append(seen.app)
                rowVersions.append(seen.version)
                moments.append(credential.record.authorization?.moment)
                sources.append(credential.record.authorization?.source.storageCode)
                signIns.append(credential.lastSignInAt)
                emails.append(record.email?.moment)
                let token = credential.refreshToken?.storageCodes
                tokens.append(token?.status)
                causes.append(token?.cause)
            }
        }
        guard !rowIDs.isEmpty else { return [] }
        return [
            PostgresCall(
                Self.update,
                [
                    .integers(rowIDs), .integers(apps), .integers(rowVersions), .moments(moments),
                    .integers(sources), .moments(signIns), .moments(emails), .integers(tokens),
                    .integers(causes), .integer(Int64(rowIDs.count)),
                ])
        ]
    }
}
