import AppleAccounts

/// The wide rows of subjects, column by column, as arrays for a statement.
struct SubjectArrays {
    private static let update = PostgresStatement(
        "update_subjects",
        """
        UPDATE subject AS s SET
            account_id = n.account_id, created_at = n.created_at, email = n.email,
            email_is_verified = n.email_is_verified, email_is_private = n.email_is_private,
            email_at = n.email_at, unsigned_email = n.unsigned_email, forwarding = n.forwarding,
            forwarding_at = n.forwarding_at, first_name = n.first_name, last_name = n.last_name,
            real_user_status = n.real_user_status, email_is_not_private = n.email_is_not_private
        FROM unnest(
            $1::bigint[], $2::uuid[], $3::bigint[], $4::text[], $5::boolean[], $6::boolean[], $7::bigint[],
            $8::text[], $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::bigint[],
            $14::boolean[])
        AS n (
            id, account_id, created_at, email, email_is_verified, email_is_private, email_at, unsigned_email,
            forwarding, forwarding_at, first_name, last_name, real_user_status, email_is_not_private)
        WHERE s.id = n.id
        """)

    private static let insert = PostgresStatement(
        "insert_subjects",
        """
        INSERT INTO subject (
            id, account_id, created_at, email, email_is_verified, email_is_private, email_at, unsigned_email,
            forwarding, forwarding_at, first_name, last_name, real_user_status, email_is_not_private, team_id,
            sub)
        SELECT * FROM unnest(
            $1::bigint[], $2::uuid[], $3::bigint[], $4::text[], $5::boolean[], $6::boolean[], $7::bigint[],
            $8::text[], $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::bigint[], $14::boolean[],
            $15::bigint[], $16::text[])
        """)

    private var rowIDs: [Int64?] = []
    private var records: [SubjectRecord] = []

    mutating func add(_ record: SubjectRecord, rowID: Int64) {
        rowIDs.append(rowID)
        records.append(record)
    }

    /// Returns `nil` when there is none.
    func updateCall() -> PostgresCall? {
        records.isEmpty ? nil : PostgresCall(Self.update, values)
    }

    /// In the order in which they were added. Returns `nil` when there is none.
    func insertCall(_ names: PostgresNames) throws -> PostgresCall? {
        guard !records.isEmpty else { return nil }
        let teams = try records.map { try names.teams.ensuredNumber(of: $0.key.team) }
        return PostgresCall(
            Self.insert, values + [.integers(teams), .texts(records.map(\.key.subject.rawValue))])
    }

    private var values: [PostgresValue] {
        [
            .integers(rowIDs), .uuids(records.map { $0.accountID?.uniqueID }),
            .moments(records.map(\.createdAt)), .texts(records.map { $0.email?.value.address }),
            .booleans(records.map { $0.email?.value.isVerified }),
            .booleans(records.map { $0.email.map { $0.value.isPrivate == true } }),
            .moments(records.map { $0.email?.moment }),
            .texts(records.map(\.unsignedEmail)),
            .integers(records.map { $0.forwarding?.value.storageCode }),
            .moments(records.map { $0.forwarding?.moment }), .texts(records.map(\.firstName)),
            .texts(records.map(\.lastName)), .integers(records.map(\.realUserStatus)),
            .booleans(records.map { $0.email?.value.isPrivate == false ? true : nil }),
        ]
    }
}
