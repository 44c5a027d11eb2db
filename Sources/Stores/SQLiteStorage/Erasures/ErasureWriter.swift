import AppleAccounts
import Foundation
import GRDB
import SQLTables

/// Turns a user into a tombstone. The classification of the columns decides which are cleared. Erasures are
/// rare, so the statements are not kept.
struct ErasureWriter {
    private static let insertErasure = Insertion<ErasureTable>()
    private static let insertApp = Insertion<ErasureAppTable>()
    private static let insertToken = Insertion<ErasureTokenTable>()
    private static let clearSubject = """
        UPDATE subject SET \(SQLiteSubjectTable.clearing(subject: ":name", keyDigest: ":digest")) WHERE id = :row
        """
    private static let clearNotifications = """
        UPDATE notification SET \(NotificationTable.clearing(payload: ":payload")) WHERE id IN (
            SELECT notification_id FROM notification_event
            WHERE app_id IN (SELECT id FROM app) AND sub = :sub)
        """

    let database: Database
    let names: Names

    /// - Parameters:
    ///   - key: Key of the user.
    ///   - rowID: Row ID of the user's subject.
    /// - Returns: The location of the tombstone. It is left without revocation.
    func carryOut(_ erasure: ErasureRecord, key: SubjectKey, rowID: Int64) throws -> SubjectPlace {
        let team = try names.teams.ensureNumber(of: key.team)
        let place = SubjectPlace(rowID: rowID, digest: KeyDigest(team: team, name: key.tombstoneName))
        try makeTombstone(key, at: place)
        try forgetInInbox(key.subject)
        try database.execute(
            sql: "DELETE FROM transfer WHERE account_id = :account",
            arguments: ["account": erasure.accountID.uniqueID.data])
        try database.execute(
            sql: AuditStatements.clear.text.sqlite, arguments: [erasure.accountID.uniqueID.data])
        try database.execute(
            sql: HistoryStatements.remove.text.sqlite, arguments: [erasure.accountID.uniqueID.data])
        try Self.insertErasure.run(in: database) {
            $0.write(erasure, to: $1)
            $1.set($0.teamID, team)
        }
        for app in erasure.apps {
            let number = try names.apps.ensureNumber(of: app.clientID)
            try Self.insertApp.run(in: database) {
                $0.write(app, of: erasure.id, to: $1)
                $1.set($0.appID, number)
            }
        }
        for token in erasure.tokens { try insert(token, of: erasure.id) }
        return place
    }

    private func makeTombstone(_ key: SubjectKey, at place: SubjectPlace) throws {
        let (rowID, digest) = (place.rowID, place.digest.data)
        try database.execute(
            sql: """
                DELETE FROM credential WHERE subject_id IN (
                    SELECT id FROM subject WHERE key_digest = :digest OR id = :row)
                """,
            arguments: ["digest": digest, "row": rowID])
        // An older tombstone of the user gives up its name: its time is in the user's row since they came
        // back. Its row stays for its events, under a meaningless name.
        try database.execute(
            sql: """
                UPDATE subject SET sub = char(1) || id, key_digest = key_digest(team_id, char(1) || id)
                WHERE key_digest = :digest
                """,
            arguments: ["digest": digest])
        try database.execute(
            sql: Self.clearSubject,
            arguments: ["name": key.tombstoneName, "digest": digest, "row": rowID])
    }

    /// Removes the notifications about this `sub`. The keys are found through the apps, which are few.
    func forgetInInbox(_ subject: AppleSubject) throws {
        try database.execute(
            sql: Self.clearNotifications,
            arguments: ["payload": KeptNotification.erasedPayload, "sub": subject.rawValue])
        try database.execute(
            sql: "DELETE FROM notification_event WHERE app_id IN (SELECT id FROM app) AND sub = :sub",
            arguments: ["sub": subject.rawValue])
    }

    private func insert(_ token: ErasureToken, of erasure: ErasureID) throws {
        let client = try names.clients.ensureNumber(of: token.clientID)
        let app = try names.apps.ensureNumber(of: token.primaryClientID)
        try Self.insertToken.run(in: database) {
            $0.write(token, of: erasure, to: $1)
            $1.set($0.clientID, client)
            $1.set($0.appID, app)
        }
    }
}
