import AppleAccounts
import GRDB

/// Appends account events. SQLite numbers them, and because one connection writes, in the order of commit.
final class EventWriter {
    private let names: Names
    private let insert: PreparedStatement

    init(_ names: Names, in database: Database) throws {
        self.names = names
        insert = try PreparedStatement(
            """
            INSERT INTO event (id, kind, subject_id, account_id, app_id, reason, source, moment, recorded_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """, in: database)
    }

    func append(_ event: AccountEvent, subjectRowID: Int64) throws {
        let app = try event.clientID.map { try names.apps.ensureNumber(of: $0) }
        insert.begin()
        insert.bind(event.id.uniqueID, at: 1)
        insert.bind(event.kind.storageCode, at: 2)
        insert.bind(subjectRowID, at: 3)
        insert.bind(event.accountID?.uniqueID, at: 4)
        insert.bind(app, at: 5)
        insert.bind(event.reason?.storageCode, at: 6)
        insert.bind(event.source?.storageCode, at: 7)
        insert.bind(event.moment, at: 8)
        insert.bind(event.recordedAt, at: 9)
        try insert.execute()
    }
}
