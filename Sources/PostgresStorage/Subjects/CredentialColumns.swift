import AppleAccounts

/// The columns of a credential, beside its subject.
enum CredentialColumns {
    static let list = """
        app_id, authorized_at, authorized_source, revoked_at, revoked_reason, revoked_source, last_sign_in_at, \
        email_at, refresh_token, refresh_token_cause
        """
    static let count = 10

    /// Reads them from a row, the first at a column, and puts them where they belong in a subject's record.
    /// Does nothing when they are NULL.
    static func add(
        _ rows: PostgresRows, _ row: Int, at first: Int, to record: inout SubjectRecord,
        _ names: PostgresNames,
        in session: PostgresSession
    ) throws {
        guard let app = rows.integer(row, first) else { return }
        guard app != PostgresNames.allApps else {
            record.revocationOfAllApps = try Revocation(rows, row, at: first + 3)
            return
        }
        var credential = AppCredential(clientID: try names.apps.name(of: app, in: session))
        credential.record = CredentialRecord(
            authorization: try Authorization(rows, row, at: first + 1),
            revocation: try Revocation(rows, row, at: first + 3))
        credential.lastSignInAt = rows.moment(row, first + 6)
        credential.refreshToken = try RefreshTokenStatus(
            storageCode: rows.integer(row, first + 8), cause: rows.integer(row, first + 9))
        if let email = record.email, let moment = rows.moment(row, first + 7) {
            record.email = email.merged(with: LastWriter(email.value, at: moment))
        }
        let place = record.credentials.firstIndex { credential.clientID < $0.clientID }
        record.credentials.insert(credential, at: place ?? record.credentials.endIndex)
    }
}
