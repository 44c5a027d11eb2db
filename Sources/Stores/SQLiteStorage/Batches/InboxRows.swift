import AppleAccounts
import GRDB
import SQLTables

/// Reads and writes the notification inbox.
final class InboxRows {
    private let database: Database
    private let names: Names
    private let findIdentifier: KeyedSelect<InboxIdentifier, Void>
    private let findKey: PreparedStatement
    private let keyToFind: NotificationEventTable
    private let insertNotification: Insertion<NotificationTable>
    private let insertKey: Insertion<NotificationEventTable>

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
        insertNotification = try Insertion(.except { [$0.id] }, in: database)
        insertKey = try Insertion(in: database)
    }

    func contains(_ identifier: InboxIdentifier) throws -> Bool { try findIdentifier.hasRow(identifier) }

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
        try insertNotification {
            $0.write(kept, to: $1)
            $1.set($0.appID, app)
        }
        let notification = database.lastInsertedRowID
        for key in kept.newInboxKeys {
            try insertKey {
                $0.write(key, to: $1)
                $1.set($0.appID, app)
                $1.set($0.notificationID, notification)
            }
        }
    }
}
