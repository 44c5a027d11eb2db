import AppleAccounts
import GRDB
import SQLTables

/// The notification inbox.
final class InboxRows {
    private let database: Database
    private let names: Names
    private let findIdentifier: KeyedSelect<InboxIdentifier>
    private let findKey: PreparedStatement
    private let keyToFind: NotificationEventTable
    private let insertNotification: PreparedStatement
    private let notificationColumns: NotificationTable
    private let insertKey: PreparedStatement
    private let keyColumns: NotificationEventTable

    init(_ names: Names, in database: Database) throws {
        self.database = database
        self.names = names
        findIdentifier = try KeyedSelect(in: database) {
            "SELECT 1 FROM notification WHERE identifier = \($0)"
        }
        var keyParameters = ParameterList()
        let key = keyParameters.add(columnsOf: NotificationEventTable.self, .key)
        keyToFind = key.columns
        findKey = try PreparedStatement(
            "SELECT 1 FROM notification_event WHERE \(key.conditions)", in: database)
        let notifications = Insertion<NotificationTable>(.except { [$0.id] })
        notificationColumns = notifications.columns
        insertNotification = try PreparedStatement(notifications.sql, in: database)
        let keys = Insertion<NotificationEventTable>()
        keyColumns = keys.columns
        insertKey = try PreparedStatement(keys.sql, in: database)
    }

    func contains(_ identifier: InboxIdentifier) throws -> Bool {
        try findIdentifier.first(identifier) { _ in true } ?? false
    }

    func contains(_ key: InboxKey) throws -> Bool {
        guard let app = try names.apps.number(of: key.clientID) else { return false }
        findKey.begin()
        keyToFind.write(key, to: findKey)
        findKey.set(keyToFind.appID, app)
        defer { findKey.finish() }
        return try findKey.step()
    }

    func insert(_ kept: KeptNotification) throws {
        let app = try names.apps.ensureNumber(of: kept.command.clientID)
        insertNotification.begin()
        notificationColumns.write(kept, to: insertNotification)
        insertNotification.set(notificationColumns.appID, app)
        try insertNotification.execute()
        let notification = database.lastInsertedRowID
        for key in kept.newInboxKeys {
            insertKey.begin()
            keyColumns.write(key, to: insertKey)
            insertKey.set(keyColumns.appID, app)
            insertKey.set(keyColumns.notificationID, notification)
            try insertKey.execute()
        }
    }
}
