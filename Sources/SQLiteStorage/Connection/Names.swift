import AppleAccounts
import GRDB

/// The numbers of teams and apps of one connection.
final class Names {
    var teams: NameTable<TeamID>
    var apps: NameTable<ClientID>

    init(writes: Bool, in database: Database) throws {
        teams = try NameTable("team", writes: writes, in: database) { TeamID($0) }
        apps = try NameTable("app", writes: writes, in: database) { ClientID($0) }
    }
}
