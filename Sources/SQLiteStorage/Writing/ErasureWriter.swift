import AppleAccounts
import Foundation
import GRDB

/// Turns a person into a tombstone. It is rare, so its statements are not kept.
struct ErasureWriter {
    let database: Database
    let names: Names

    /// - Parameters:
    ///   - key: Of the person.
    ///   - rowID: Of the person's subject.
    /// - Returns: The place of the tombstone. It is left without revocation.
    func carryOut(_ erasure: ErasureRecord, key: SubjectKey, rowID: Int64) throws -> SubjectPlace {
        let team = try names.teams.ensureNumber(of: key.team)
        let place = SubjectPlace(rowID: rowID, digest: KeyDigest(team: team, name: key.tombstoneName))
        try makeTombstone(key, at: place)
        try forgetInInbox(key.subject)
        try database.execute(
            sql: "DELETE FROM transfer WHERE account_id = ?", arguments: [erasure.accountID.uniqueID.data])
        try database.execute(
            sql: """
                INSERT INTO erasure (id, account_id, team_id, requested_at, deadline, finished_at)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                erasure.id.uniqueID.data, erasure.accountID.uniqueID.data, team,
                erasure.requestedAt.milliseconds, erasure.deadline.milliseconds,
                erasure.finishedAt?.milliseconds,
            ])
        for app in erasure.apps { try insert(app, of: erasure.id) }
        for grant in erasure.grants { try insert(grant, of: erasure.id) }
        return place
    }

    private func makeTombstone(_ key: SubjectKey, at place: SubjectPlace) throws {
        let (rowID, digest) = (place.rowID, place.digest.data)
        // An older tombstone of the person makes room: its moment is in the person's row since they came
        // back. Its row stays for its events, under a name that says nothing.
        try database.execute(
            sql: """
                DELETE FROM credential WHERE subject_id IN (
                    SELECT id FROM subject WHERE key_digest = ?1 OR id = ?2)
                """,
            arguments: [digest, rowID])
        try database.execute(
            sql: """
                UPDATE subject SET sub = char(1) || id, key_digest = key_digest(team_id, char(1) || id)
                WHERE key_digest = ?
                """,
            arguments: [digest])
        try database.execute(
            sql: """
                UPDATE subject SET sub = ?, key_digest = ?, account_id = NULL, created_at = NULL, email = NULL,
                    email_is_verified = NULL, email_is_private = NULL, email_is_not_private = NULL, email_at = NULL, unsigned_email = NULL,
                    forwarding = NULL, forwarding_at = NULL, first_name = NULL, last_name = NULL,
                    real_user_status = NULL
                WHERE id = ?
                """,
            arguments: [key.tombstoneName, digest, rowID])
    }

    /// What Apple told under this name. The keys are found through the apps, of which there are few.
    func forgetInInbox(_ subject: AppleSubject) throws {
        try database.execute(
            sql: """
                UPDATE notification SET payload = ?1 WHERE id IN (
                    SELECT notification_id FROM notification_event
                    WHERE app_id IN (SELECT id FROM app) AND sub = ?2)
                """,
            arguments: [KeptNotification.erasedPayload, subject.rawValue])
        try database.execute(
            sql: "DELETE FROM notification_event WHERE app_id IN (SELECT id FROM app) AND sub = ?",
            arguments: [subject.rawValue])
    }

    private func insert(_ app: ErasedApp, of erasure: ErasureID) throws {
        try database.execute(
            sql: """
                INSERT INTO erasure_app (erasure_id, app_id, had_token, state, reason, refresh_token_cause)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                erasure.uniqueID.data, try names.apps.ensureNumber(of: app.clientID), app.hadToken ? 1 : 0,
                app.stateBefore.storageCode, app.reasonBefore?.storageCode,
                app.refreshTokenCause?.storageCode,
            ])
    }

    private func insert(_ grant: ErasureGrant, of erasure: ErasureID) throws {
        let (step, outcome) = grant.step.storageCodes
        try database.execute(
            sql: """
                INSERT INTO erasure_grant (
                    id, erasure_id, client_id, app_id, kind, step, outcome, attempts, next_attempt_at,
                    is_claimed, cause, sealed, redirect_uri, expires_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                grant.id.data, erasure.uniqueID.data, try names.clients.ensureNumber(of: grant.clientID),
                try names.apps.ensureNumber(of: grant.primaryClientID), grant.kind.storageCode, step, outcome,
                grant.attempts, grant.nextAttemptAt.milliseconds, grant.isClaimed ? 1 : 0, grant.cause,
                grant.sealed.map { Data($0.bytes) }, grant.redirectURI, grant.expiresAt?.milliseconds,
            ])
    }
}
