import AppleAccounts
import AuthorizationServer
import SQLTables

/// Team, app and client numbers, cached by one session.
final class PostgresNames {
    let teams = PostgresNameTable<TeamTable, TeamID>()
    let apps = PostgresNameTable<AppTable, ClientID>()
    /// Client IDs to which codes and tokens were issued.
    let clients = PostgresNameTable<ClientTable, ClientID>()

    /// Stores all names in the commands. Must not run inside a transaction.
    func ensure(namesOf commands: [AccountCommand], in session: PostgresSession) throws {
        var found = CommandNames()
        for command in commands { found.add(command) }
        try teams.ensure(found.teams, in: session)
        try apps.ensure(found.apps, in: session)
        if !found.clients.isEmpty { try clients.ensure(found.clients, in: session) }
    }
}

/// The teams, apps and clients that commands name.
struct CommandNames {
    private(set) var teams: Set<TeamID> = []
    private(set) var apps: Set<ClientID> = []
    private(set) var clients: Set<ClientID> = []

    mutating func add(_ command: AccountCommand) {
        switch command {
        case .signIn(let signIn):
            teams.insert(signIn.key.team)
            apps.insert(signIn.clientID)
            if let offer = signIn.authorizationCode { clients.insert(offer.clientID) }
        case .notification(let notification):
            teams.insert(notification.team)
            apps.insert(notification.clientID)
        case .finishExchange(let exchange):
            teams.insert(exchange.key.team)
            apps.insert(exchange.primaryClientID)
            clients.insert(exchange.clientID)
        case .rejectRefreshToken(let rejection):
            teams.insert(rejection.key.team)
            apps.insert(rejection.primaryClientID)
            clients.insert(rejection.clientID)
        case .erase(let erase):
            teams.insert(erase.key.team)
        case .transfer(let transfer):
            teams.insert(transfer.to.team)
            apps.insert(transfer.clientID)
        case .registerKey, .useProof: break
        case .disable(let disable):
            teams.insert(disable.key.team)
        case .enable(let enable):
            teams.insert(enable.key.team)
        case .signOut(let signOut):
            teams.insert(signOut.key.team)
        }
    }
}

/// Assigns small numbers to names that are few but occur in many rows: teams, apps and clients. Numbers never
/// change and are never deleted, so the session caches them.
final class PostgresNameTable<T: NumberedNames, Name: ByteComparedText & PostgresColumnValue> {
    private var numbers: [Name: Int64] = [:]
    private var names: [Int64: Name] = [:]
    private let number: Column<Int64>
    private let name: Column<Name>
    private let insert: TypedStatement<[Name]>
    private let read: TypedStatement<[Name]>
    private let readAll: PostgresCall

    init() {
        var list = SelectList()
        number = list.add("id", Int64.self, as: "id")
        name = list.add("name", Name.self, as: "name")
        // All replicas insert in name order, so that two replicas that store the same new names cannot
        // deadlock.
        insert = TypedStatement("insert_\(T.name)") { names in
            """
            INSERT INTO \(T.name) (name) SELECT name FROM unnest(\(names)) AS new (name)
            WHERE NOT EXISTS (SELECT FROM \(T.name) AS old WHERE old.name = new.name)
            ORDER BY name COLLATE "C" ON CONFLICT (name) DO NOTHING
            """
        }
        read = TypedStatement("read_\(T.name)") { names in
            "SELECT \(list) FROM \(T.name) WHERE name = ANY (\(names))"
        }
        readAll = PostgresCall(PostgresStatement("read_all_of_\(T.name)", "SELECT \(list) FROM \(T.name)"))
    }

    /// Stores new names. Must not run inside a transaction, because a rollback would invalidate cached
    /// numbers.
    func ensure(_ names: Set<Name>, in session: PostgresSession) throws {
        let new = names.filter { numbers[$0] == nil }
        guard !new.isEmpty else { return }
        // Two separate statements run here, so that the second statement sees names from another replica.
        _ = try session.run(insert(Array(new)))
        remember(try session.run(read(Array(new))))
    }

    /// Returns a name's number; `nil` for a name that has never been stored.
    func number(of name: Name, in session: PostgresSession) throws -> Int64? {
        if let number = numbers[name] { return number }
        remember(try session.run(read([name])))
        return numbers[name]
    }

    /// Returns the number of a name that was stored before.
    func ensuredNumber(of name: Name) throws -> Int64 {
        guard let number = numbers[name] else {
            throw StorageError(.corrupted, detail: "expected a number for a name in \(T.name), found none")
        }
        return number
    }

    func name(of number: Int64, in session: PostgresSession) throws -> Name {
        if let name = names[number] { return name }
        // Another replica has stored this name, and usually other names too, so all names are read.
        remember(try session.run(readAll))
        guard let name = names[number] else {
            throw StorageError(
                .corrupted,
                detail: "expected a name with number \(number) in \(T.name), found none; restore a backup")
        }
        return name
    }

    private func remember(_ rows: PostgresRows) {
        for row in rows {
            // App number 0 is reserved and has no name.
            guard let number = row[number], let name = row[name] else { continue }
            numbers[name] = number
            names[number] = name
        }
    }
}

// Rows that store the number of their app.

extension CredentialTable {
    func add(
        _ row: PostgresRow, to record: inout SubjectRecord, _ names: PostgresNames,
        in session: PostgresSession
    ) throws {
        try add(row, to: &record) { try names.apps.name(of: $0, in: session) }
    }
}

extension GrantColumns {
    func record(
        _ row: PostgresRow, _ names: PostgresNames, in session: PostgresSession
    ) throws -> GrantRecord {
        try record(row) { try names.apps.name(of: $0, in: session) }
    }
}
