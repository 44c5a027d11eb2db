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
    let keyDigest: Column<KeyDigest>
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
        keyDigest = columns("key_digest", .personal)
        emailIsNotPrivate = columns("email_is_not_private", .personal)
    }
}

extension ColumnChoice where T == SubjectTable {
    /// What names the row: it changes only when the person is erased or transferred.
    static var names: Self { only { [$0.teamID, $0.subject, $0.keyDigest] } }
    /// What is known of the person.
    static var facts: Self { except { [$0.id, $0.teamID, $0.subject, $0.keyDigest] } }
}

extension SubjectTable {
    /// SQL text that clears everything about the person and gives the row another name.
    ///
    /// - Parameters:
    ///   - subject: SQL of the new name.
    ///   - keyDigest: SQL of its digest.
    static func clearing(subject: String, keyDigest: String) -> String {
        let cleared = sensitiveNames(except: .only { [$0.subject, $0.keyDigest] }).cleared
        return "sub = \(subject), key_digest = \(keyDigest), \(cleared)"
    }

    /// Binds what is known of a person.
    func bind(_ record: SubjectRecord, to statement: PreparedStatement) {
        statement.bind(record.accountID, to: accountID)
        statement.bind(record.createdAt, to: createdAt)
        let signed = record.email?.value
        statement.bind(signed?.address, to: email)
        statement.bind(signed?.isVerified, to: emailIsVerified)
        // The two columns together: a relay, no relay, or unknown.
        statement.bind(signed.map { $0.isPrivate == true }, to: emailIsPrivate)
        statement.bind(signed?.isPrivate == false ? true : nil, to: emailIsNotPrivate)
        statement.bind(record.email?.moment, to: emailAt)
        statement.bind(record.unsignedEmail, to: unsignedEmail)
        statement.bind(record.forwarding?.value, to: forwarding)
        statement.bind(record.forwarding?.moment, to: forwardingAt)
        statement.bind(record.profile.firstName, to: firstName)
        statement.bind(record.profile.lastName, to: lastName)
        statement.bind(record.realUserStatus, to: realUserStatus)
    }

    /// Reads what is known of a person, without the credentials.
    func record(_ row: PreparedStatement, key: SubjectKey) throws(StorageError) -> SubjectRecord {
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

    private func signedEmail(_ row: PreparedStatement) -> LastWriter<EmailAddress>? {
        guard let address = row[email], let moment = row[emailAt] else { return nil }
        let isPrivate: Bool? =
            row[emailIsPrivate] == true ? true : row[emailIsNotPrivate] == true ? false : nil
        return EmailAddress(
            address: address, isVerified: row[emailIsVerified] == true, isPrivate: isPrivate
        ).map { LastWriter($0, at: moment) }
    }
}
