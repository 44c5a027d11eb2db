import AppleAccounts
import GRDB
import SQLTables

/// Numbers of teams, apps and clients, as cached by one connection.
final class Names {
    var teams: NameTable<TeamTable, TeamID>
    var apps: NameTable<AppTable, ClientID>
    /// Client IDs that codes and tokens were issued to.
    var clients: NameTable<ClientTable, ClientID>

    init(writes: Bool, in database: Database) throws {
        teams = try NameTable(writes: writes, in: database)
        apps = try NameTable(writes: writes, in: database)
        clients = try NameTable(writes: writes, in: database)
    }
}
