import AppleAccounts
import GRDB

/// Reads subjects with all their credentials: one indexed look-up, one row for each credential.
final class SubjectRows {
    static let selectionByKey = selection(of: "s.key_digest = ?1", credentialsFrom: "?2", to: "?3")
    static let selectionByAccount = selection(
        of: "s.account_id = ?1", credentialsFrom: "first_credential_id(s.key_digest)",
        to: "last_credential_id(s.key_digest)")

    /// - Parameters:
    ///   - condition: Which subject.
    ///   - first: The lowest number that a row of its credentials may have.
    ///   - last: The highest.
    private static func selection(of condition: String, credentialsFrom first: String, to last: String)
        -> String
    {
        """
        SELECT s.id, s.team_id, s.sub, s.account_id, s.created_at, s.email, s.email_is_verified,
            s.email_is_private, s.email_at, s.unsigned_email, s.forwarding, s.forwarding_at, s.first_name,
            s.last_name, s.real_user_status, c.app_id, c.authorized_at, c.authorized_source, c.revoked_at,
            c.revoked_reason, c.revoked_source, c.last_sign_in_at, c.email_at, c.refresh_token,
            c.refresh_token_cause, s.key_digest, s.email_is_not_private
        FROM subject s LEFT JOIN credential c ON c.id BETWEEN \(first) AND \(last) AND +c.subject_id = s.id
        WHERE \(condition)
        """
    }

    private let names: Names
    private let byKey: PreparedStatement
    private let byAccount: PreparedStatement
    private let tombstones: TombstoneRows

    init(_ names: Names, in database: Database) throws {
        self.names = names
        byKey = try PreparedStatement(Self.selectionByKey, in: database)
        byAccount = try PreparedStatement(Self.selectionByAccount, in: database)
        tombstones = try TombstoneRows(in: database)
    }

    /// What is known of a person, or left of one who was erased.
    func find(_ key: SubjectKey) throws -> (record: SubjectRecord, place: SubjectPlace)? {
        guard let team = try names.teams.number(of: key.team) else { return nil }
        return try findRow(key, team: team) ?? tombstones.find(key, team: team)
    }

    private func findRow(
        _ key: SubjectKey, team: Int64
    ) throws -> (record: SubjectRecord, place: SubjectPlace)? {
        let digest = KeyDigest(team: team, name: key.subject.rawValue)
        byKey.begin()
        byKey.bind(digest.data, at: 1)
        byKey.bind(digest.credentialIDs, at: 2)
        defer { byKey.finish() }
        guard try byKey.step(), let rowID = byKey.integer(0) else { return nil }
        guard byKey.integer(1) == team, byKey.text(2) == key.subject.rawValue else {
            throw StorageError(.corrupted, detail: "a subject has the digest of another")
        }
        return (try read(byKey, key: key), SubjectPlace(rowID: rowID, digest: digest))
    }

    func find(_ id: AccountID) throws -> (record: SubjectRecord, place: SubjectPlace)? {
        byAccount.begin()
        byAccount.bind(id.uniqueID, at: 1)
        defer { byAccount.finish() }
        guard try byAccount.step(), let rowID = byAccount.integer(0) else { return nil }
        guard let team = byAccount.integer(1), let subject = byAccount.text(2).flatMap({ AppleSubject($0) }),
            let digest = byAccount.data(25).flatMap({ KeyDigest($0) })
        else { throw StorageError(.corrupted, detail: "a subject without name") }
        let key = SubjectKey(team: try names.teams.name(of: team), subject: subject)
        return (try read(byAccount, key: key), SubjectPlace(rowID: rowID, digest: digest))
    }

    /// Reads the row that the statement is at, and all that follow.
    private func read(_ row: PreparedStatement, key: SubjectKey) throws -> SubjectRecord {
        var record = SubjectRecord(key: key, isStored: true)
        record.accountID = row.uniqueID(3).map { AccountID($0) }
        record.createdAt = row.moment(4)
        if let address = row.text(5), let moment = row.moment(8),
            let email = EmailAddress(
                address: address, isVerified: row.integer(6) == 1,
                isPrivate: row.integer(7) == 1 ? true : row.integer(26) == 1 ? false : nil)
        {
            record.email = LastWriter(email, at: moment)
        } else {
            record.unsignedEmail = row.text(9)
        }
        if let code = row.integer(10), let moment = row.moment(11) {
            record.forwarding = LastWriter(try EmailForwarding(storageCode: code), at: moment)
        }
        record.firstName = row.text(12)
        record.lastName = row.text(13)
        record.realUserStatus = row.integer(14)
        repeat {
            guard let app = row.integer(15) else { continue }
            guard app != Names.allApps else {
                record.revocationOfAllApps = try Revocation(row, at: 18)
                continue
            }
            var credential = AppCredential(clientID: try names.apps.name(of: app))
            credential.record = CredentialRecord(
                authorization: try Authorization(row, at: 16), revocation: try Revocation(row, at: 18))
            credential.lastSignInAt = row.moment(21)
            credential.refreshToken = try RefreshTokenStatus(
                storageCode: row.integer(23), cause: row.integer(24))
            record.credentials.append(credential)
            if let email = record.email, let moment = row.moment(22) {
                record.email = email.merged(with: LastWriter(email.value, at: moment))
            }
        } while try row.step()
        if record.credentials.count > 1 { record.credentials.sort { $0.clientID < $1.clientID } }
        return record
    }
}
