import AppleAccounts
import GRDB
import SQLTables

/// Appends account events. SQLite numbers them in the order of commit, because only one connection writes.
final class EventWriter {
    private let names: Names
    private let insert: PreparedStatement
    private let columns: EventTable

    init(_ names: Names, in database: Database) throws {
        self.names = names
        let insertion = Insertion<EventTable>(.except { [$0.sequence] })
        columns = insertion.columns
        insert = try PreparedStatement(insertion.sql, in: database)
    }

    func append(_ event: AccountEvent, subjectRowID: Int64) throws {
        let app = try event.clientID.map { try names.apps.ensureNumber(of: $0) }
        insert.begin()
        columns.write(event, to: insert)
        insert.set(columns.subjectID, subjectRowID)
        insert.set(columns.appID, app)
        try insert.execute()
    }
}
