import AppleAccounts

/// The numbers of teams, apps and clients, as one session knows them.
final class PostgresNames {
    /// The number of no app: what stands under it holds for all apps of the team.
    static let allApps: Int64 = 0

    let teams = PostgresNameTable<TeamID>("team") { TeamID($0) }
    let apps = PostgresNameTable<ClientID>("app") { ClientID($0) }
    /// Client IDs that codes and tokens were issued to.
    let clients = PostgresNameTable<ClientID>("client") { ClientID($0) }

    /// Gives numbers to all that is named in the commands. Not inside of a transaction.
    func ensure(namesOf commands: [AccountCommand], in session: PostgresSession) throws {
        var found = CommandNames()
        for command in commands { found.add(command) }
        try teams.ensure(found.teams, in: session)
        try apps.ensure(found.apps, in: session)
        if !found.clients.isEmpty { try clients.ensure(found.clients, in: session) }
    }
}
