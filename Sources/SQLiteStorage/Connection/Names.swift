import AppleAccounts
import GRDB

/// The numbers of teams and apps of one connection.
final class Names {
    /// The number of no app: what stands under it holds for all apps of the team.
    static let allApps: Int64 = 0

    var teams: NameTable<TeamID>
    var apps: NameTable<ClientID>
    /// Client IDs that codes and tokens were issued to.
    var clients: NameTable<ClientID>

    init(writes: Bool, in database: Database) throws {
        teams = try NameTable("team", writes: writes, in: database) { TeamID($0) }
        apps = try NameTable("app", writes: writes, in: database) { ClientID($0) }
        clients = try NameTable("client", writes: writes, in: database) { ClientID($0) }
    }
}
