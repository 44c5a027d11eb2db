import AppleAccounts
import GRDB

/// Writes what changed of a subject: its wide row, the narrow rows of its credentials, or both.
final class SubjectWriter {
    private let database: Database
    private let names: Names
    private let insertSubject: PreparedStatement
    private let updateSubject: PreparedStatement
    private let insertCredential: PreparedStatement
    private let updateCredential: PreparedStatement
    private let upsertRevocation: PreparedStatement

    init(_ names: Names, in database: Database) throws {
        self.database = database
        self.names = names
        insertSubject = try PreparedStatement(
            """
            INSERT INTO subject (
                account_id, created_at, email, email_is_verified, email_is_private, email_at, unsigned_email,
                forwarding, forwarding_at, first_name, last_name, real_user_status, team_id, sub,
                key_digest)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
            """, in: database)
        updateSubject = try PreparedStatement(
            """
            UPDATE subject SET
                account_id = ?1, created_at = ?2, email = ?3, email_is_verified = ?4, email_is_private = ?5,
                email_at = ?6, unsigned_email = ?7, forwarding = ?8, forwarding_at = ?9, first_name = ?10,
                last_name = ?11, real_user_status = ?12
            WHERE id = ?13
            """, in: database)
        insertCredential = try PreparedStatement(
            """
            INSERT INTO credential (
                authorized_at, authorized_source, revoked_at, revoked_reason, revoked_source, last_sign_in_at,
                email_at, refresh_token, refresh_token_cause, subject_id, app_id)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            """, in: database)
        updateCredential = try PreparedStatement(
            """
            UPDATE credential SET
                authorized_at = ?1, authorized_source = ?2, revoked_at = ?3, revoked_reason = ?4,
                revoked_source = ?5, last_sign_in_at = ?6, email_at = ?7, refresh_token = ?8,
                refresh_token_cause = ?9
            WHERE subject_id = ?10 AND app_id = ?11
            """, in: database)
        upsertRevocation = try PreparedStatement(
            """
            INSERT INTO credential (subject_id, app_id, revoked_at, revoked_reason, revoked_source)
            VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (subject_id, app_id) DO UPDATE SET revoked_at = excluded.revoked_at,
                revoked_reason = excluded.revoked_reason, revoked_source = excluded.revoked_source
            """, in: database)
    }

    /// - Parameter rowID: 0 while the subject has no row; then that of its new one.
    func save(_ record: SubjectRecord, rowID: inout Int64) throws {
        switch record.rowChange {
        case .none: break
        case .update where record.isTombstone: break
        case .update:
            updateSubject.begin()
            bind(record, to: updateSubject)
            updateSubject.bind(rowID, at: 13)
            try updateSubject.execute()
        case .insert:
            let team = try names.teams.ensureNumber(of: record.key.team)
            insertSubject.begin()
            bind(record, to: insertSubject)
            insertSubject.bind(team, at: 13)
            insertSubject.bind(record.key.subject.rawValue, at: 14)
            insertSubject.bind(KeyDigest.make(team: team, name: record.key.subject.rawValue), at: 15)
            try insertSubject.execute()
            rowID = database.lastInsertedRowID
        }
        if record.rowChange != .none, let revocation = record.revocationOfAllApps {
            try save(revocation, rowID: rowID)
        }
        for credential in record.credentials where credential.rowChange != .none {
            let app = try names.apps.ensureNumber(of: credential.clientID)
            let statement = credential.rowChange == .insert ? insertCredential : updateCredential
            statement.begin()
            bind(credential, email: record.email, to: statement)
            statement.bind(rowID, at: 10)
            statement.bind(app, at: 11)
            try statement.execute()
        }
    }

    /// Saves what holds for all apps, also of a tombstone.
    func save(_ revocation: Revocation, rowID: Int64) throws {
        upsertRevocation.begin()
        upsertRevocation.bind(rowID, at: 1)
        upsertRevocation.bind(Names.allApps, at: 2)
        upsertRevocation.bind(revocation.moment, at: 3)
        upsertRevocation.bind(revocation.reason.storageCode, at: 4)
        upsertRevocation.bind(revocation.source.storageCode, at: 5)
        try upsertRevocation.execute()
    }

    private func bind(_ record: SubjectRecord, to statement: PreparedStatement) {
        statement.bind(record.accountID?.uniqueID, at: 1)
        statement.bind(record.createdAt, at: 2)
        statement.bind(record.email?.value.address, at: 3)
        statement.bind(record.email.map { $0.value.isVerified ? 1 : 0 }, at: 4)
        statement.bind(record.email.map { $0.value.isPrivate ? 1 : 0 }, at: 5)
        statement.bind(record.email?.moment, at: 6)
        statement.bind(record.unsignedEmail, at: 7)
        statement.bind(record.forwarding?.value.storageCode, at: 8)
        statement.bind(record.forwarding?.moment, at: 9)
        statement.bind(record.firstName, at: 10)
        statement.bind(record.lastName, at: 11)
        statement.bind(record.realUserStatus, at: 12)
    }

    private func bind(
        _ credential: AppCredential, email: LastWriter<EmailAddress>?, to statement: PreparedStatement
    ) {
        statement.bind(credential.record.authorization?.moment, at: 1)
        statement.bind(credential.record.authorization?.source.storageCode, at: 2)
        statement.bind(credential.record.revocation?.moment, at: 3)
        statement.bind(credential.record.revocation?.reason.storageCode, at: 4)
        statement.bind(credential.record.revocation?.source.storageCode, at: 5)
        statement.bind(credential.lastSignInAt, at: 6)
        statement.bind(email?.moment, at: 7)
        let refreshToken = credential.refreshToken?.storageCodes
        statement.bind(refreshToken?.status, at: 8)
        statement.bind(refreshToken?.cause, at: 9)
    }
}
