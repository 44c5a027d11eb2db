import AppleAccounts
import SQLTables

/// Numbers of teams, apps and clients, as cached by one session.
final class PostgresNames {
    let teams = PostgresNameTable<TeamTable, TeamID>()
    let apps = PostgresNameTable<AppTable, ClientID>()
    /// Client IDs that codes and tokens were issued to.
    let clients = PostgresNameTable<ClientTable, ClientID>()

    /// Stores all names of the commands. Not inside a transaction.
    func ensure(namesOf commands: [AccountCommand], in session: PostgresSession) throws {
        var found = CommandNames()
        for command in commands { found.add(command) }
        try teams.ensure(found.teams, in: session)
        try apps.ensure(found.apps, in: session)
        if !found.clients.isEmpty { try clients.ensure(found.clients, in: session) }
    }
}
