public import AppleAccounts

/// The table of all teams' users. `account_id` is NULL for a user known only from notifications, and for a
/// tombstone.
public struct SubjectTable: Table {
    public static let name = "subject"

    public let id: Column<Int64>
    public let teamID: Column<Int64>
    /// The `sub`; for an erased user, the tombstone's name.
    public let subject: Column<String>
    public let accountID: Column<AccountID>
    public let createdAt: Column<Moment>
    public let email: Column<String>
    public let emailIsVerified: Column<Bool>
    /// True for a relay address, false for any other address, NULL if unknown.
    public let emailIsPrivate: Column<Bool>
    public let emailAt: Column<Moment>
    public let unsignedEmail: Column<String>
    public let forwarding: Column<EmailForwarding>
    public let forwardingAt: Column<Moment>
    public let firstName: Column<String>
    public let lastName: Column<String>
    public let realUserStatus: Column<Int64>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required)
        teamID = columns("team_id", .operational, .required, .nameNumber)
        subject = columns("sub", .personal, .required, .length(1...255))
        accountID = columns("account_id", .personal, .optional)
        createdAt = columns("created_at", .personal, .optional)
        email = columns("email", .personal, .optional, .length(1...320))
        emailIsVerified = columns("email_is_verified", .personal, .optional)
        emailIsPrivate = columns("email_is_private", .personal, .optional)
        emailAt = columns("email_at", .personal, .optional)
        unsignedEmail = columns("unsigned_email", .personal, .optional, .length(1...320))
        forwarding = columns("forwarding", .personal, .optional)
        forwardingAt = columns("forwarding_at", .personal, .optional)
        firstName = columns("first_name", .personal, .optional, .length(1...256))
        lastName = columns("last_name", .personal, .optional, .length(1...256))
        realUserStatus = columns("real_user_status", .personal, .optional)
    }
}

extension ColumnChoice where T == SubjectTable {
    /// The columns with facts about the user.
    public static var facts: Self { except { [$0.id, $0.teamID, $0.subject] } }
    /// The columns with facts about the user, and the row number.
    public static var row: Self { except { [$0.teamID, $0.subject] } }
}

extension SubjectTable {
    /// Returns SQL that clears all columns about the user and renames the row.
    ///
    /// - Parameter subject: SQL for the new name.
    public static func clearing(subject: String) -> String {
        "sub = \(subject), \(sensitiveNames(except: .only { [$0.subject] }).cleared)"
    }

    /// Writes the `sub` and the facts about the user. The store writes the row and team numbers.
    @inlinable public func write(_ record: SubjectRecord, to row: some WritableRow) {
        row.set(subject, record.key.subject.rawValue)
        row.set(accountID, record.accountID)
        row.set(createdAt, record.createdAt)
        let signed = record.email?.value
        row.set(email, signed?.address)
        row.set(emailIsVerified, signed?.isVerified)
        row.set(emailIsPrivate, signed?.isPrivate)
        row.set(emailAt, record.email?.moment)
        row.set(unsignedEmail, record.unsignedEmail)
        row.set(forwarding, record.forwarding?.value)
        row.set(forwardingAt, record.forwarding?.moment)
        row.set(firstName, record.profile.firstName)
        row.set(lastName, record.profile.lastName)
        row.set(realUserStatus, record.realUserStatus)
    }

    /// Reads the facts about a user, without the credentials.
    @inlinable public func record(_ row: some ReadableRow, key: SubjectKey) throws(StorageError)
        -> SubjectRecord
    {
        var record = SubjectRecord(key: key, isStored: true)
        record.accountID = row[accountID]
        record.createdAt = row[createdAt]
        record.email = signedEmail(row)
        if record.email == nil { record.unsignedEmail = row[unsignedEmail] }
        if let value = try row.code(forwarding), let moment = row[forwardingAt] {
            record.forwarding = LastWriter(value, at: moment)
        }
        record.profile = Profile(firstName: row[firstName], lastName: row[lastName])
        record.realUserStatus = row[realUserStatus]
        return record
    }

    @inlinable func signedEmail(_ row: some ReadableRow) -> LastWriter<EmailAddress>? {
        guard let address = row[email], let moment = row[emailAt] else { return nil }
        return EmailAddress(
            address: address, isVerified: row[emailIsVerified] == true, isPrivate: row[emailIsPrivate]
        ).map { LastWriter($0, at: moment) }
    }
}

/// The table of account histories. An account's entries have consecutive numbers that start at the oldest
/// stored entry.
public typealias AccountHistoryTable = RecordTable<HistoryEntry>

extension HistoryEntry: StoredRecord {
    public typealias Given = ClientID

    public static var table: String { "account_history" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        let accountID = try column("account_id", .operational, \.accountID)
        column.other("number", .operational, Int64.self, .range(1...Int64.max))
        return HistoryEntry(
            accountID: accountID, kind: try column.code("kind", .personal, \.kind),
            clientID: column.number("app_id") { $0 },
            outcome: try column.code("outcome", .personal, \.outcome),
            moment: try column("moment", .personal, \.moment),
            recordedAt: try column("recorded_at", .personal, \.recordedAt),
            decidedBy: try column("decided_by", .personal, \.decidedBy),
            cause: try column.code("cause", .personal, \.cause))
    }
}

/// The table of accounts that another team transfers to this team. A row is kept until its user signs in.
public typealias TransferTable = RecordTable<TransferRecord>

extension TransferRecord: StoredRecord {
    public typealias Given = TeamID

    public static var table: String { "transfer" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        TransferRecord(
            recipientTeam: column.number("team_id") { $0 },
            transferSubject: try column("transfer_sub", .personal, \.transferSubject),
            accountID: try column("account_id", .operational, \.accountID), from: nil,
            createdAt: try column("created_at", .operational, \.createdAt),
            expiresAt: try column("expires_at", .operational, \.expiresAt))
    }
}

extension ColumnChoice where T == TransferTable {
    public static var values: Self { except { [$0["team_id", Int64.self], $0.transferSubject] } }
}
