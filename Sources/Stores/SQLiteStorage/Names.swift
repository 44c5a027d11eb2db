import AppleAccounts
import AuthorizationServer
import GRDB
import SQLTables

/// Team, app and client numbers, cached by one connection.
final class Names {
    var teams: NameTable<TeamTable, TeamID>
    var apps: NameTable<AppTable, ClientID>
    /// Client IDs to which codes and tokens were issued.
    var clients: NameTable<ClientTable, ClientID>

    init(writes: Bool, in database: Database) throws {
        teams = try NameTable(writes: writes, in: database)
        apps = try NameTable(writes: writes, in: database)
        clients = try NameTable(writes: writes, in: database)
    }
}

/// Assigns small numbers to names that are few but occur in many rows: teams, apps and clients. Numbers stay
/// cached for the life of the connection.
///
/// Not thread-safe: it must stay on its connection's queue. After a rollback it must be discarded, because it
/// may contain numbers that no longer exist.
struct NameTable<T: NumberedNames, Name: ByteComparedText & StoredForm> where Name.Stored == String {
    private let database: Database
    private let find: KeyedSelect<String, T>
    private let read: KeyedSelect<Int64, T>
    private let insert: Insertion<T>?
    private var numbers: [Name: Int64] = [:]
    private var names: [Int64: Name] = [:]

    init(writes: Bool, in database: Database) throws {
        self.database = database
        find = try KeyedSelect(in: database, by: "name")
        read = try KeyedSelect(in: database, by: "id")
        insert = writes ? try Insertion(.only { [$0.name] }, in: database) : nil
    }

    /// Returns a name's number; `nil` for a name that has never been stored.
    mutating func number(of name: Name) throws -> Int64? {
        if let number = numbers[name] { return number }
        guard let number = try find.first(name.rawValue, { $1[$0.id] }) ?? nil else { return nil }
        remember(name, number)
        return number
    }

    /// Returns a name's number, and stores the name if it is new.
    mutating func ensureNumber(of name: Name) throws -> Int64 {
        if let number = try number(of: name) { return number }
        guard let insert else {
            throw StorageError(.readOnly, detail: "a connection that only reads was asked to store a name")
        }
        try insert { $1.set($0.name, name.rawValue) }
        let number = database.lastInsertedRowID
        remember(name, number)
        return number
    }

    mutating func name(of number: Int64) throws -> Name {
        if let name = names[number] { return name }
        guard let name = (try read.first(number) { $1[$0.name] } ?? nil).flatMap({ Name(stored: $0) }) else {
            throw StorageError(
                .corrupted,
                detail:
                    "expected a name with number \(number) in table \(T.name), found none; restore a backup")
        }
        remember(name, number)
        return name
    }

    private mutating func remember(_ name: Name, _ number: Int64) {
        numbers[name] = number
        names[number] = name
    }
}

// Rows that store the numbers of their client ID and app.

/// The columns of Apple's codes or tokens.
struct NumberedColumns<Record: StoredRecord>: Sendable
where Record.Given == (clientID: ClientID, primaryClientID: ClientID) {
    let table: RecordTable<Record>
    let client: Column<Int64>
    let app: Column<Int64>

    init(_ table: RecordTable<Record>) {
        (self.table, client, app) = (table, table["client_id", Int64.self], table["app_id", Int64.self])
    }

    func record(_ row: PreparedStatement, _ names: Names) throws -> Record {
        let client = try names.clients.name(of: row.required(client))
        return try table.record(row, (client, names.apps.name(of: row.required(app))))
    }
}

extension GrantColumns {
    func record(_ row: PreparedStatement, _ names: Names) throws -> GrantRecord {
        try record(row) { try names.apps.name(of: $0) }
    }
}

extension CredentialTable {
    func add(_ row: PreparedStatement, to record: inout SubjectRecord, _ names: Names) throws {
        try add(row, to: &record) { try names.apps.name(of: $0) }
    }
}
