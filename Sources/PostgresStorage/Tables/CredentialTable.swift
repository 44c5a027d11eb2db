import AppleAccounts
import SQLTables

/// What is known of a person for an app. The row of app 0 has what ended the credentials for all apps.
struct CredentialTable: Table {
    static let name = "credential"

    let subjectID: Column<Int64>
    let appID: Column<Int64>
    let authorizedAt: Column<Moment>
    let authorizedSource: Column<CredentialSource>
    let revokedAt: Column<Moment>
    let revokedReason: Column<CredentialReason>
    let revokedSource: Column<CredentialSource>
    let lastSignInAt: Column<Moment>
    /// When the person's address was last confirmed, as far as this credential knows.
    let emailAt: Column<Moment>
    let refreshToken: Column<Int64>
    let refreshTokenCause: Column<Int64>

    init(_ columns: inout ColumnList) {
        subjectID = columns("subject_id", .operational)
        appID = columns("app_id", .operational)
        authorizedAt = columns("authorized_at", .personal)
        authorizedSource = columns("authorized_source", .personal)
        revokedAt = columns("revoked_at", .personal)
        revokedReason = columns("revoked_reason", .personal)
        revokedSource = columns("revoked_source", .personal)
        lastSignInAt = columns("last_sign_in_at", .personal)
        emailAt = columns("email_at", .personal)
        refreshToken = columns("refresh_token", .personal)
        refreshTokenCause = columns("refresh_token_cause", .personal)
    }
}

extension ColumnChoice where T == CredentialTable {
    /// What changes with sign-ins and notifications.
    static var facts: Self { except { [$0.subjectID, $0.appID] } }
    /// The facts and their app, as subjects are read.
    static var factsOfApp: Self { except { [$0.subjectID] } }
    /// What decides a state.
    static var state: Self { except { [$0.subjectID, $0.lastSignInAt, $0.emailAt] } }
    /// What a sign-in changes.
    static var signIn: Self {
        except { [$0.subjectID, $0.appID, $0.revokedAt, $0.revokedReason, $0.revokedSource] }
    }
}

extension CredentialTable {
    /// Sets what a sign-in changes. A credential that is `nil` has none of it.
    func setSignIn(_ credentials: [AppCredential?], emails: [Moment?], in values: inout RowValues) {
        values.set(authorizedAt, credentials.map { $0?.record.authorization?.moment })
        values.set(authorizedSource, credentials.map { $0?.record.authorization?.source })
        values.set(lastSignInAt, credentials.map { $0?.lastSignInAt })
        values.set(emailAt, emails)
        let tokens = credentials.map { $0?.refreshToken?.storageCodes }
        values.set(refreshToken, tokens.map { $0?.status })
        values.set(refreshTokenCause, tokens.map { $0?.cause })
    }

    func setRevocations(_ revocations: [Revocation?], in values: inout RowValues) {
        values.set(revokedAt, revocations.map { $0?.moment })
        values.set(revokedReason, revocations.map { $0?.reason })
        values.set(revokedSource, revocations.map { $0?.source })
    }

    /// Reads the authorization and the revocation.
    func record(_ row: PostgresRow) throws(StorageError) -> CredentialRecord {
        CredentialRecord(authorization: try authorization(row), revocation: try revocation(row))
    }

    func refreshTokenStatus(_ row: PostgresRow) throws(StorageError) -> RefreshTokenStatus? {
        try RefreshTokenStatus(storageCode: row[refreshToken], cause: row[refreshTokenCause])
    }

    /// Reads one credential of a person and adds it to the person's record. Does nothing where a person has
    /// none.
    func add(
        _ row: PostgresRow, to record: inout SubjectRecord, _ names: PostgresNames,
        in session: PostgresSession
    ) throws {
        guard let app = row[appID] else { return }
        guard app != PostgresNames.allApps else {
            record.revocationOfAllApps = try revocation(row)
            return
        }
        var credential = AppCredential(clientID: try names.apps.name(of: app, in: session))
        credential.record = try self.record(row)
        credential.lastSignInAt = row[lastSignInAt]
        credential.refreshToken = try refreshTokenStatus(row)
        // The latest moment counts: to confirm an address leaves the person's own row alone.
        if let email = record.email, let moment = row[emailAt] {
            record.email = email.merged(with: LastWriter(email.value, at: moment))
        }
        let place = record.credentials.firstIndex { credential.clientID < $0.clientID }
        record.credentials.insert(credential, at: place ?? record.credentials.endIndex)
    }

    private func authorization(_ row: PostgresRow) throws(StorageError) -> Authorization? {
        guard let moment = row[authorizedAt], let source = try row.code(authorizedSource) else { return nil }
        return Authorization(moment: moment, source: source)
    }

    private func revocation(_ row: PostgresRow) throws(StorageError) -> Revocation? {
        guard let moment = row[revokedAt], let reason = try row.code(revokedReason),
            let source = try row.code(revokedSource)
        else { return nil }
        return Revocation(moment: moment, reason: reason, source: source)
    }
}
