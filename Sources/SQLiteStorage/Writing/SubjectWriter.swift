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
                forwarding, forwarding_at, first_name, last_name, real_user_status, email_is_not_private,
                team_id, sub, key_digest)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
            """, in: database)
        updateSubject = try PreparedStatement(
            """
            UPDATE subject SET
                account_id = ?1, created_at = ?2, email = ?3, email_is_verified = ?4, email_is_private = ?5,
                email_at = ?6, unsigned_email = ?7, forwarding = ?8, forwarding_at = ?9, first_name = ?10,
                last_name = ?11, real_user_status = ?12, email_is_not_private = ?13
            WHERE id = ?14
            """, in: database)
        insertCredential = try PreparedStatement(
            """
            INSERT INTO credential (
                authorized_at, authorized_source, revoked_at, revoked_reason, revoked_source, last_sign_in_at,
                email_at, refresh_token, refresh_token_cause, app_id, key_check, id, subject_id)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,
                (SELECT coalesce(max(id) + 1, ?12) FROM credential WHERE id BETWEEN ?12 AND ?13), ?14)
            """, in: database)
        updateCredential = try PreparedStatement(
            """
            UPDATE credential SET
                authorized_at = ?1, authorized_source = ?2, revoked_at = ?3, revoked_reason = ?4,
                revoked_source = ?5, last_sign_in_at = ?6, email_at = ?7, refresh_token = ?8,
                refresh_token_cause = ?9
            WHERE id BETWEEN ?12 AND ?13 AND key_check = ?11 AND app_id = ?10
            """, in: database)
        upsertRevocation = try PreparedStatement(
            """
            INSERT INTO credential (revoked_at, revoked_reason, revoked_source, app_id, key_check, id, subject_id)
            VALUES (?1, ?2, ?3, ?4, ?5,
                (SELECT coalesce(max(id) + 1, ?6) FROM credential WHERE id BETWEEN ?6 AND ?7), ?8)
            ON CONFLICT (subject_id, app_id) DO UPDATE SET revoked_at = excluded.revoked_at,
                revoked_reason = excluded.revoked_reason, revoked_source = excluded.revoked_source
            """, in: database)
    }

    /// - Parameter place: Of the subject; `nil` while it has no row.
    /// - Returns: The same, or that of its new row. `nil` when there was none, and nothing to save.
    func save(_ record: SubjectRecord, at place: SubjectPlace?) throws -> SubjectPlace? {
        let place = record.rowChange == .insert ? try insert(record) : place
        guard let place else { return nil }
        if record.rowChange == .update, !record.isTombstone {
            updateSubject.begin()
            bind(record, to: updateSubject)
            updateSubject.bind(place.rowID, at: 14)
            try updateSubject.execute()
            try requireChange()
        }
        if record.rowChange != .none, let revocation = record.revocationOfAllApps {
            try save(revocation, at: place)
        }
        for credential in record.credentials where credential.rowChange != .none {
            try save(credential, email: record.email, at: place)
        }
        return place
    }

    private func insert(_ record: SubjectRecord) throws -> SubjectPlace {
        let team = try names.teams.ensureNumber(of: record.key.team)
        let digest = KeyDigest(team: team, name: record.key.subject.rawValue)
        insertSubject.begin()
        bind(record, to: insertSubject)
        insertSubject.bind(team, at: 14)
        insertSubject.bind(record.key.subject.rawValue, at: 15)
        insertSubject.bind(digest.data, at: 16)
        try insertSubject.execute()
        return SubjectPlace(rowID: database.lastInsertedRowID, digest: digest)
    }

    private func save(
        _ credential: AppCredential, email: LastWriter<EmailAddress>?, at place: SubjectPlace
    ) throws {
        let app = try names.apps.ensureNumber(of: credential.clientID)
        let isNew = credential.rowChange == .insert
        let statement = isNew ? insertCredential : updateCredential
        statement.begin()
        bind(credential, email: email, to: statement)
        statement.bind(app, at: 10)
        statement.bind(place.digest.check, at: 11)
        statement.bind(place.digest.credentialIDs, at: 12)
        if isNew { statement.bind(place.rowID, at: 14) }
        try statement.execute()
        try requireChange()
    }

    /// What is answered must be stored, also when a row is not where it should be.
    private func requireChange() throws {
        guard database.changesCount == 1 else {
            throw StorageError(.corrupted, detail: "a row that should be changed is not there")
        }
    }

    /// Saves what holds for all apps, also of a tombstone.
    func save(_ revocation: Revocation, at place: SubjectPlace) throws {
        upsertRevocation.begin()
        upsertRevocation.bind(revocation.moment, at: 1)
        upsertRevocation.bind(revocation.reason.storageCode, at: 2)
        upsertRevocation.bind(revocation.source.storageCode, at: 3)
        upsertRevocation.bind(Names.allApps, at: 4)
        upsertRevocation.bind(place.digest.check, at: 5)
        upsertRevocation.bind(place.digest.credentialIDs, at: 6)
        upsertRevocation.bind(place.rowID, at: 8)
        try upsertRevocation.execute()
    }

    private func bind(_ record: SubjectRecord, to statement: PreparedStatement) {
        statement.bind(record.accountID?.uniqueID, at: 1)
        statement.bind(record.createdAt, at: 2)
        statement.bind(record.email?.value.address, at: 3)
        statement.bind(record.email.map { $0.value.isVerified ? 1 : 0 }, at: 4)
        statement.bind(record.email.map { $0.value.isPrivate == true ? 1 : 0 }, at: 5)
        statement.bind(record.email?.moment, at: 6)
        statement.bind(record.unsignedEmail, at: 7)
        statement.bind(record.forwarding?.value.storageCode, at: 8)
        statement.bind(record.forwarding?.moment, at: 9)
        statement.bind(record.firstName, at: 10)
        statement.bind(record.lastName, at: 11)
        statement.bind(record.realUserStatus, at: 12)
        statement.bind(record.email?.value.isPrivate == false ? 1 : nil, at: 13)
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
