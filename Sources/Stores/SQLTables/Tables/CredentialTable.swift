public import AppleAccounts

/// The table of credentials: one row per user and app. The row for app 0 holds the facts that apply to all
/// apps (`FactsOfAllApps`).
///
/// All columns are integers, so a sign-in writes few bytes.
public struct CredentialTable: Table {
    public static let name = "credential"

    public let subjectID: Column<Int64>
    public let appID: Column<Int64>
    public let authorizedAt: Column<Moment>
    public let authorizedSource: Column<CredentialSource>
    public let revokedAt: Column<Moment>
    public let revokedReason: Column<CredentialReason>
    public let revokedSource: Column<CredentialSource>
    public let lastSignInAt: Column<Moment>
    /// Time at which this credential last confirmed the user's address.
    public let emailAt: Column<Moment>
    public let refreshToken: Column<Int64>
    public let refreshTokenCause: Column<Int64>
    /// This and the following columns are set only for app 0.
    public let disabledAt: Column<Moment>
    /// End of the disabled period; `Moment.last` for an unlimited period.
    public let disabledUntil: Column<Moment>
    public let disabledReason: Column<Disabling.Reason>
    public let sessionsEndedAt: Column<Moment>

    public init(_ columns: inout ColumnList) {
        subjectID = columns("subject_id", .operational, .required)
        appID = columns("app_id", .operational, .required, .nameNumber)
        authorizedAt = columns("authorized_at", .personal, .optional)
        authorizedSource = columns("authorized_source", .personal, .optional)
        revokedAt = columns("revoked_at", .personal, .optional)
        revokedReason = columns("revoked_reason", .personal, .optional)
        revokedSource = columns("revoked_source", .personal, .optional)
        lastSignInAt = columns("last_sign_in_at", .personal, .optional)
        emailAt = columns("email_at", .personal, .optional)
        refreshToken = columns("refresh_token", .personal, .optional, .range(1...3))
        refreshTokenCause = columns("refresh_token_cause", .personal, .optional, .range(1...99))
        disabledAt = columns("disabled_at", .personal, .optional)
        disabledUntil = columns("disabled_until", .personal, .optional)
        disabledReason = columns("disabled_reason", .personal, .optional)
        sessionsEndedAt = columns("sessions_ended_at", .personal, .optional)
    }
}

extension ColumnChoice where T == CredentialTable {
    /// All columns except the key.
    public static var values: Self { except { [$0.subjectID, $0.appID] } }
    /// The columns that sign-ins and notifications change.
    public static var facts: Self {
        except {
            [
                $0.subjectID, $0.appID, $0.disabledAt, $0.disabledUntil, $0.disabledReason,
                $0.sessionsEndedAt,
            ]
        }
    }
    /// The columns of one app's row.
    public static var ofApp: Self {
        except { [$0.disabledAt, $0.disabledUntil, $0.disabledReason, $0.sessionsEndedAt] }
    }
    /// The facts and their app, for reading a subject.
    public static var factsOfApp: Self { except { [$0.subjectID] } }
    /// The columns that determine a user's state.
    public static var state: Self {
        except {
            [
                $0.subjectID, $0.lastSignInAt, $0.emailAt, $0.disabledAt, $0.disabledReason,
                $0.sessionsEndedAt,
            ]
        }
    }
    /// The columns that a sign-in changes.
    public static var signIn: Self {
        except {
            [
                $0.subjectID, $0.appID, $0.revokedAt, $0.revokedReason, $0.revokedSource, $0.disabledAt,
                $0.disabledUntil, $0.disabledReason, $0.sessionsEndedAt,
            ]
        }
    }
    /// The columns of the row for app 0, except its key.
    public static var factsOfAllApps: Self {
        only {
            [
                $0.revokedAt, $0.revokedReason, $0.revokedSource, $0.disabledAt, $0.disabledUntil,
                $0.disabledReason, $0.sessionsEndedAt,
            ]
        }
    }
}

extension CredentialTable {
    /// Writes the credential for an app. The store writes the user and app numbers.
    ///
    /// - Parameter email: Time at which the user's address was last confirmed.
    @inlinable public func write(_ credential: AppCredential, email: Moment?, to row: some WritableRow) {
        row.set(authorizedAt, credential.record.authorization?.moment)
        row.set(authorizedSource, credential.record.authorization?.source)
        if let revocation = credential.record.revocation { write(revocation, to: row) }
        row.set(lastSignInAt, credential.lastSignInAt)
        row.set(emailAt, email)
        let codes = credential.refreshToken?.storageCodes
        row.set(refreshToken, codes?.status)
        row.set(refreshTokenCause, codes?.cause)
    }

    /// Writes the facts that apply to all apps.
    @inlinable public func write(_ facts: FactsOfAllApps, to row: some WritableRow) {
        if let revocation = facts.revocation { write(revocation, to: row) }
        row.set(disabledAt, facts.disabling?.since)
        row.set(disabledUntil, facts.disabling?.until)
        row.set(disabledReason, facts.disabling?.reason)
        row.set(sessionsEndedAt, facts.sessionsEndedAt)
    }

    @inlinable func write(_ revocation: Revocation, to row: some WritableRow) {
        row.set(revokedAt, revocation.moment)
        row.set(revokedReason, revocation.reason)
        row.set(revokedSource, revocation.source)
    }

    /// Reads the authorization and the revocation.
    @inlinable public func record(_ row: some ReadableRow) throws(StorageError) -> CredentialRecord {
        CredentialRecord(authorization: try authorization(row), revocation: try revocation(row))
    }

    @inlinable public func refreshTokenStatus(_ row: some ReadableRow) throws(StorageError)
        -> RefreshTokenStatus?
    {
        try RefreshTokenStatus(storageCode: row[refreshToken], cause: row[refreshTokenCause])
    }

    /// Reads one of a user's credentials and adds it to the user's record, ordered by client ID. Does nothing
    /// if the row has no credential.
    ///
    /// - Parameter name: Returns an app's name by its number.
    @inlinable public func add(
        _ row: some ReadableRow, to record: inout SubjectRecord, name: (Int64) throws -> ClientID
    ) throws {
        guard let app = row[appID] else { return }
        guard app != AppTable.allApps else {
            record.hasRowOfAllApps = true
            record.revocationOfAllApps = try revocation(row)
            record.disabling = try disabling(row)
            record.sessionsEndedAt = row[sessionsEndedAt]
            return
        }
        var credential = AppCredential(clientID: try name(app))
        credential.record = try self.record(row)
        credential.lastSignInAt = row[lastSignInAt]
        credential.refreshToken = try refreshTokenStatus(row)
        let place = record.credentials.firstIndex { credential.clientID < $0.clientID }
        record.credentials.insert(credential, at: place ?? record.credentials.endIndex)
        // The latest time applies, because confirming an address does not write the user's own row.
        if let email = record.email, let moment = row[emailAt] {
            record.email = email.merged(with: LastWriter(email.value, at: moment))
        }
    }

    @inlinable func disabling(_ row: some ReadableRow) throws(StorageError) -> Disabling? {
        guard let since = row[disabledAt], let until = row[disabledUntil],
            let reason = try row.code(disabledReason)
        else { return nil }
        return Disabling(since: since, until: until, reason: reason)
    }

    @inlinable func authorization(_ row: some ReadableRow) throws(StorageError) -> Authorization? {
        guard let moment = row[authorizedAt], let source = try row.code(authorizedSource) else { return nil }
        return Authorization(moment: moment, source: source)
    }

    @inlinable func revocation(_ row: some ReadableRow) throws(StorageError) -> Revocation? {
        guard let moment = row[revokedAt], let reason = try row.code(revokedReason),
            let source = try row.code(revokedSource)
        else { return nil }
        return Revocation(moment: moment, reason: reason, source: source)
    }
}
