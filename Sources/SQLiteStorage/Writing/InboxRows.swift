import AppleAccounts
import GRDB

/// The notification inbox.
final class InboxRows {
    private let database: Database
    private let names: Names
    private let findIdentifier: PreparedStatement
    private let findKey: PreparedStatement
    private let insertNotification: PreparedStatement
    private let insertKey: PreparedStatement

    init(_ names: Names, in database: Database) throws {
        self.database = database
        self.names = names
        findIdentifier = try PreparedStatement(
            "SELECT 1 FROM notification WHERE identifier = ?", in: database)
        findKey = try PreparedStatement(
            "SELECT 1 FROM notification_event WHERE app_id = ? AND sub = ? AND type = ? AND event_time = ?",
            in: database)
        insertNotification = try PreparedStatement(
            """
            INSERT INTO notification (identifier, app_id, receipt, payload, received_at)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """, in: database)
        insertKey = try PreparedStatement(
            """
            INSERT INTO notification_event (app_id, sub, type, event_time, notification_id)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """, in: database)
    }

    func contains(_ identifier: InboxIdentifier) throws -> Bool {
        findIdentifier.begin()
        findIdentifier.bind(identifier.rawValue, at: 1)
        defer { findIdentifier.finish() }
        return try findIdentifier.step()
    }

    func contains(_ key: InboxKey) throws -> Bool {
        guard let app = try names.apps.number(of: key.clientID) else { return false }
        findKey.begin()
        findKey.bind(app, at: 1)
        bind(key, to: findKey)
        defer { findKey.finish() }
        return try findKey.step()
    }

    func insert(_ kept: KeptNotification) throws {
        let app = try names.apps.ensureNumber(of: kept.command.clientID)
        insertNotification.begin()
        insertNotification.bind(kept.command.identifier.rawValue, at: 1)
        insertNotification.bind(app, at: 2)
        insertNotification.bind(kept.receipt.storageCode, at: 3)
        insertNotification.bind(kept.payload, at: 4)
        insertNotification.bind(kept.command.receivedAt, at: 5)
        try insertNotification.execute()
        let notification = database.lastInsertedRowID
        for key in kept.newInboxKeys {
            insertKey.begin()
            insertKey.bind(app, at: 1)
            bind(key, to: insertKey)
            insertKey.bind(notification, at: 5)
            try insertKey.execute()
        }
    }

    private func bind(_ key: InboxKey, to statement: PreparedStatement) {
        statement.bind(key.subject.rawValue, at: 2)
        statement.bind(key.type, at: 3)
        statement.bind(key.moment, at: 4)
    }
}
