import AppleEmulator
import Foundation
import Logging
import PostgresCluster
import StrictJSON
import TestSupport
import Testing

/// The fake Apple in this process, and the configuration of a service process that uses it.
struct Relation: Sendable {
    let apple: EmulatorState
    let directory: TemporaryDirectory
    private let variables: [String: String]

    /// - Parameters:
    ///   - interval: Seconds between two checks of a token, also for Apple's throttling.
    ///   - redirectURIs: Registered for the web flow.
    static func with<Result: Sendable>(
        checkingEvery interval: Int64 = 86_400, redirectURIs: [String] = [],
        _ body: @Sendable (Relation) async throws -> Result
    ) async throws -> Result {
        let key = try ClientKey.generate(teamID: WholeSystem.team)
        return try await WholeSystem.withApple(configuring: {
            $0.apps[0].redirectURIs = redirectURIs
            $0.clientKeys = [key]
            // Apple measures the time when a request arrives, which varies more than the time when it is sent.
            $0.refreshInterval = interval * 9 / 10
        }) { emulator, directory in
            let own = [
                "APPLE_KEY_ID": key.keyID, "APPLE_PRIVATE_KEY": key.privateKeyPEM ?? "",
                "SIWA_CHECK_INTERVAL": "\(interval)",
                "DATABASE_URL": "sqlite://\(directory.path)/siwa.sqlite",
            ]
            return try await body(
                Relation(
                    apple: emulator.state, directory: directory,
                    variables: try await WholeSystem.variables(emulator).merging(own) { $1 }))
        }
    }

    /// Starts the service, with the same database each time.
    func serve(_ more: [String: String] = [:]) async throws -> (service: ServiceProcess, backend: Backend) {
        let service = try await ServiceProcess.serve(directory, variables.merging(more) { $1 })
        try await eventually { try await service.backend.get("/readyz").status == 200 }
        return (service, service.backend)
    }

    /// Log of all services so far, also of services that do not listen yet.
    func loggedText() throws -> String {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasSuffix(".log") }
            .map { try String(contentsOfFile: "\(directory.path)/\($0)", encoding: .utf8) }.joined()
    }

    /// Signs the user in, with a code.
    func signIn(_ user: EmulatedUser, at backend: Backend) async throws -> Backend.Response {
        try await backend.signIn(apple, user)
    }

    /// The user's credential in the response for the account.
    func credential(of user: EmulatedUser, at backend: Backend) async throws -> JSONValue? {
        try await backend.account(user.subject)["credentials"]?.array?.first
    }

    func requests(_ endpoint: EmulatedEndpoint) -> Int { apple.counters.requests[endpoint, default: 0] }

    /// Makes the endpoint send no response, after its work or without doing it.
    func hold(_ endpoint: EmulatedEndpoint, afterItsWork isDone: Bool) {
        var fault = EndpointFault()
        fault.delayMilliseconds = EndpointFault.maximumDelay
        fault.doesWork = isDone
        apple.setFault(fault, on: endpoint)
    }
}

extension Backend {
    /// Signs a user in with the values that an app gets from Apple: a token, a code, and at first a name.
    func signIn(_ apple: EmulatorState, _ user: EmulatedUser) async throws -> Response {
        let minted = try await apple.mint(.of(user, code: .made))
        return try await signIn(
            minted.identityToken, [("authorization_code", .string(minted.authorizationCode ?? ""))])
    }
}

extension IdentityTokenRecipe {
    static func of(_ user: EmulatedUser, code: BoundSecret = .none) -> Self {
        var recipe = IdentityTokenRecipe()
        (recipe.subject, recipe.authorizationCode) = (user.subject, code)
        return recipe
    }
}

extension EmulatorState {
    /// Makes a change of the user's account, and returns Apple's notifications of it.
    func notifications(of change: AccountChange, by user: EmulatedUser) async throws -> [String] {
        var recipe = NotificationRecipe()
        recipe.subject = user.subject
        return try await self.change(change, notifying: recipe).notifications.map(\.payload)
    }
}

/// The database of a service, read with `sqlite3` or `psql` as an operator would.
struct ObservedDatabase: Sendable {
    enum Store: String, CaseIterable, Sendable { case sqlite, postgres }

    private enum Place {
        case file(String, TemporaryDirectory)
        case server(PostgresCluster, name: String)
    }

    /// Value for `DATABASE_URL`.
    let url: String
    private let place: Place

    static func make(_ store: Store, in directory: TemporaryDirectory) async throws -> ObservedDatabase {
        switch store {
        case .sqlite:
            let path = directory.path(of: "siwa.sqlite")
            return ObservedDatabase(url: "sqlite://\(path)", place: .file(path, directory))
        case .postgres:
            let cluster = try await PostgresCluster.shared()
            let url = try await cluster.makeDatabase()
            let name = url.split(separator: "/").last.map { String($0) } ?? ""
            return ObservedDatabase(url: url, place: .server(cluster, name: name))
        }
    }

    struct Refused: Error, CustomStringConvertible { let description: String }

    /// Runs SQL, and returns the rows, one per line, with "|" between the columns.
    @discardableResult
    func query(_ sql: String) async throws -> String {
        switch place {
        case .server(let cluster, let name): return try await cluster.superuserQuery(sql, in: name)
        case .file(_, let directory): return try await OperatorTool.sqlite(sql, in: directory)
        }
    }

    /// Returns all rows of a table as text. Bytes are in hexadecimal.
    func rows(of table: String) async throws -> String {
        let sql = "SELECT * FROM \(table)"
        guard case .file(_, let directory) = place else { return try await query(sql) }
        return try await OperatorTool.sqlite(sql, in: directory, "-quote")
    }

    /// The number of rows of every table.
    func rowCounts() async throws -> [String: Int] {
        let listing =
            switch place {
            case .file: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            case .server: "SELECT tablename FROM pg_tables WHERE tableowner = 'siwa'"
            }
        let tables = try await query(listing).split(separator: "\n")
        let counts = try await query(
            tables.map { "SELECT '\($0)', count(*) FROM \"\($0)\"" }.joined(separator: " UNION ALL "))
        return Dictionary(
            counts.split(separator: "\n").map { line in
                let columns = line.split(separator: "|")
                return (String(columns[0]), columns.last.flatMap { Int($0) } ?? -1)
            }, uniquingKeysWith: { $1 })
    }

    /// Size of the database and its log on disk.
    func bytes() async throws -> Int {
        switch place {
        case .server(_, let name): return Int(try await query("SELECT pg_database_size('\(name)')")) ?? -1
        case .file(let path, _):
            return try [path, path + "-wal"].reduce(0) { sum, path in
                let size = try FileManager.default.attributesOfItem(atPath: path)[.size]
                return sum + (size as? Int ?? 0)
            }
        }
    }

    /// Makes every deletion from a table fail, as when the service dies before the deletion.
    func refuseUpdates(of column: String, in table: String) async throws {
        let trigger = "CREATE TRIGGER refuse_updates BEFORE UPDATE OF \(column) ON \(table)"
        switch place {
        case .file: try await query("\(trigger) BEGIN SELECT RAISE(ABORT, 'refused by a test'); END")
        case .server:
            try await query(
                """
                CREATE FUNCTION refuse_update() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'refused by a test'; END $$;
                \(trigger) FOR EACH ROW EXECUTE FUNCTION refuse_update()
                """)
        }
    }

    func allowUpdates(in table: String) async throws {
        switch place {
        case .file: try await query("DROP TRIGGER refuse_updates")
        case .server: try await query("DROP TRIGGER refuse_updates ON \(table)")
        }
    }
}
