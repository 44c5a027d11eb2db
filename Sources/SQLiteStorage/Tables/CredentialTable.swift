import AppleAccounts
import SQLTables

/// What is known of a person for an app. The row of app 0 has what ended the credentials for all apps.
///
/// All columns are integers, so that a sign-in writes few bytes. The number of a row is made of the digest of
/// the person's key (`KeyDigest.credentialIDs`).
struct CredentialTable: Table {
    static let name = "credential"

    let id: Column<Int64>
    let subjectID: Column<Int64>
    let appID: Column<Int64>
    let keyCheck: Column<Int64>
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
        id = columns("id", .personal)
        subjectID = columns("subject_id", .operational)
        appID = columns("app_id", .operational)
        keyCheck = columns("key_check", .personal)
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
    static var facts: Self { except { [$0.id, $0.subjectID, $0.appID, $0.keyCheck] } }
    /// The facts and their app, as subjects are read.
    static var factsOfApp: Self { except { [$0.id, $0.subjectID, $0.keyCheck] } }
    /// What decides a state.
    static var state: Self { except { [$0.id, $0.subjectID, $0.keyCheck, $0.lastSignInAt, $0.emailAt] } }
    static var revocation: Self { only { [$0.revokedAt, $0.revokedReason, $0.revokedSource] } }
}

extension CredentialTable {
    /// Binds the facts of a credential.
    func bind(
        _ credential: AppCredential, email: LastWriter<EmailAddress>?, to statement: PreparedStatement
    ) {
        statement.bind(credential.record.authorization?.moment, to: authorizedAt)
        statement.bind(credential.record.authorization?.source, to: authorizedSource)
        if let revocation = credential.record.revocation { bind(revocation, to: statement) }
        statement.bind(credential.lastSignInAt, to: lastSignInAt)
        statement.bind(email?.moment, to: emailAt)
        let codes = credential.refreshToken?.storageCodes
        statement.bind(codes?.status, to: refreshToken)
        statement.bind(codes?.cause, to: refreshTokenCause)
    }

    func bind(_ revocation: Revocation, to statement: PreparedStatement) {
        statement.bind(revocation.moment, to: revokedAt)
        statement.bind(revocation.reason, to: revokedReason)
        statement.bind(revocation.source, to: revokedSource)
    }

    /// Reads the authorization and the revocation.
    func record(_ row: PreparedStatement) throws(StorageError) -> CredentialRecord {
        CredentialRecord(authorization: try authorization(row), revocation: try revocation(row))
    }

    func refreshTokenStatus(_ row: PreparedStatement) throws(StorageError) -> RefreshTokenStatus? {
        try RefreshTokenStatus(storageCode: row[refreshToken], cause: row[refreshTokenCause])
    }

    /// Reads one credential of a person and adds it to the person's record. Does nothing where a person has
    /// none.
    func add(_ row: PreparedStatement, to record: inout SubjectRecord, _ names: Names) throws {
        guard let app = row[appID] else { return }
        guard app != Names.allApps else {
            record.revocationOfAllApps = try revocation(row)
            return
        }
        var credential = AppCredential(clientID: try names.apps.name(of: app))
        credential.record = try self.record(row)
        credential.lastSignInAt = row[lastSignInAt]
        credential.refreshToken = try refreshTokenStatus(row)
        record.credentials.append(credential)
        // The latest moment counts: to confirm an address leaves the person's own row alone.
        if let email = record.email, let moment = row[emailAt] {
            record.email = email.merged(with: LastWriter(email.value, at: moment))
        }
    }

    private func authorization(_ row: PreparedStatement) throws(StorageError) -> Authorization? {
        guard let moment = row[authorizedAt], let source = try row.code(authorizedSource) else { return nil }
        return Authorization(moment: moment, source: source)
    }

    private func revocation(_ row: PreparedStatement) throws(StorageError) -> Revocation? {
        guard let moment = row[revokedAt], let reason = try row.code(revokedReason),
            let source = try row.code(revokedSource)
        else { return nil }
        return Revocation(moment: moment, reason: reason, source: source)
    }
}
