import AppleAccounts
import SQLTables

/// The persons of all teams. A row without `account_id` is of a person of whom Apple spoke before they signed
/// in here, or a tombstone.
struct SubjectTable: Table {
    static let name = "subject"

    let id: Column<Int64>
    let teamID: Column<Int64>
    /// The `sub`; of a person who was erased, what stands in its place.
    let subject: Column<String>
    let accountID: Column<AccountID>
    let createdAt: Column<Moment>
    let email: Column<String>
    let emailIsVerified: Column<Bool>
    let emailIsPrivate: Column<Bool>
    let emailAt: Column<Moment>
    let unsignedEmail: Column<String>
    let forwarding: Column<EmailForwarding>
    let forwardingAt: Column<Moment>
    let firstName: Column<String>
    let lastName: Column<String>
    let realUserStatus: Column<Int64>
    let emailIsNotPrivate: Column<Bool>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        teamID = columns("team_id", .operational)
        subject = columns("sub", .personal)
        accountID = columns("account_id", .personal)
        createdAt = columns("created_at", .personal)
        email = columns("email", .personal)
        emailIsVerified = columns("email_is_verified", .personal)
        emailIsPrivate = columns("email_is_private", .personal)
        emailAt = columns("email_at", .personal)
        unsignedEmail = columns("unsigned_email", .personal)
        forwarding = columns("forwarding", .personal)
        forwardingAt = columns("forwarding_at", .personal)
        firstName = columns("first_name", .personal)
        lastName = columns("last_name", .personal)
        realUserStatus = columns("real_user_status", .personal)
        emailIsNotPrivate = columns("email_is_not_private", .personal)
    }
}

extension ColumnChoice where T == SubjectTable {
    /// What is known of the person.
    static var facts: Self { except { [$0.id, $0.teamID, $0.subject] } }
    /// The same with the number of the row.
    static var row: Self { except { [$0.teamID, $0.subject] } }
}

extension SubjectTable {
    /// SQL text that clears everything about the person and gives the row another name.
    ///
    /// - Parameter subject: SQL of the new name.
    static func clearing(subject: String) -> String {
        "sub = \(subject), \(sensitiveNames(except: .only { [$0.subject] }).cleared)"
    }

    /// Sets what is known of persons, and the numbers of their rows.
    func set(_ records: [SubjectRecord], ids: [Int64?], in values: inout RowValues) {
        values.set(id, ids)
        values.set(accountID, records.map(\.accountID))
        values.set(createdAt, records.map(\.createdAt))
        values.set(email, records.map { $0.email?.value.address })
        values.set(emailIsVerified, records.map { $0.email?.value.isVerified })
        // The two columns together: a relay, no relay, or unknown.
        values.set(emailIsPrivate, records.map { $0.email.map { $0.value.isPrivate == true } })
        values.set(emailIsNotPrivate, records.map { $0.email?.value.isPrivate == false ? true : nil })
        values.set(emailAt, records.map { $0.email?.moment })
        values.set(unsignedEmail, records.map(\.unsignedEmail))
        values.set(forwarding, records.map { $0.forwarding?.value })
        values.set(forwardingAt, records.map { $0.forwarding?.moment })
        values.set(firstName, records.map(\.profile.firstName))
        values.set(lastName, records.map(\.profile.lastName))
        values.set(realUserStatus, records.map(\.realUserStatus))
    }

    /// Reads what is known of a person, without the credentials.
    func record(_ row: PostgresRow, key: SubjectKey) throws(StorageError) -> SubjectRecord {
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

    private func signedEmail(_ row: PostgresRow) -> LastWriter<EmailAddress>? {
        guard let address = row[email], let moment = row[emailAt] else { return nil }
        let isPrivate: Bool? =
            row[emailIsPrivate] == true ? true : row[emailIsNotPrivate] == true ? false : nil
        return EmailAddress(
            address: address, isVerified: row[emailIsVerified] == true, isPrivate: isPrivate
        ).map { LastWriter($0, at: moment) }
    }
}
