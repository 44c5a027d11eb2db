import AppleAccounts

/// The columns of a subject's wide row, beside its name.
enum SubjectColumns {
    static let list = """
        id, account_id, created_at, email, email_is_verified, email_is_private, email_at, unsigned_email, \
        forwarding, forwarding_at, first_name, last_name, real_user_status, email_is_not_private
        """
    static let count = 14

    /// Reads them from a row, the first at a column. The credentials are still to come.
    static func record(
        _ rows: PostgresRows, _ row: Int, at first: Int, key: SubjectKey
    ) throws(StorageError) -> SubjectRecord {
        var record = SubjectRecord(key: key, isStored: true)
        record.accountID = rows.uuid(row, first + 1).map { AccountID($0) }
        record.createdAt = rows.moment(row, first + 2)
        if let address = rows.text(row, first + 3), let moment = rows.moment(row, first + 6),
            let email = EmailAddress(
                address: address, isVerified: rows.boolean(row, first + 4) == true,
                isPrivate: rows.boolean(row, first + 5) == true
                    ? true : rows.boolean(row, first + 13) == true ? false : nil)
        {
            record.email = LastWriter(email, at: moment)
        } else {
            record.unsignedEmail = rows.text(row, first + 7)
        }
        if let code = rows.integer(row, first + 8), let moment = rows.moment(row, first + 9) {
            record.forwarding = LastWriter(try EmailForwarding(storageCode: code), at: moment)
        }
        record.firstName = rows.text(row, first + 10)
        record.lastName = rows.text(row, first + 11)
        record.realUserStatus = rows.integer(row, first + 12)
        return record
    }
}
