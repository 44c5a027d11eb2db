import AppleEmulator
import Cryptography
import EmulatorServer
import Encodings
import Foundation
import HTTPAPI
import Logging
import PostgresCluster
import StrictJSON
import TestSupport
import Testing

/// The fake Apple in this process, and the configuration of a service process that uses it.
struct Relation: Sendable {
    static let team = "SIWADEV000"
    static let clientID = WholeSystem.clientID
    static let webClientID = "com.example.web"
    static let secret = "siwa_relation_test"

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
        let key = try ClientKey.generate(teamID: team)
        var app = try EmulatedApp(teamID: team, clientIDs: [clientID, webClientID])
        app.redirectURIs = redirectURIs
        var configuration = EmulatorConfiguration(apps: [app])
        configuration.clientKeys = [key]
        configuration.keys = try await WholeSystem.appleKeys.value
        // Apple measures the time when a request arrives, which varies more than the time when it is sent.
        configuration.refreshInterval = interval * 9 / 10
        let emulator = try await EmulatedApple(configuration: configuration, clock: .system, logger: .silent)
        return try await TemporaryDirectory.with { directory in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await emulator.run() }
                let port = try await emulator.port()
                let relation = Relation(
                    apple: emulator.state, directory: directory,
                    variables: [
                        "SIWA_ENV": "development", "APPLE_BASE_URL": "http://127.0.0.1:\(port)",
                        "APPLE_TEAM_ID": team, "APPLE_CLIENT_IDS": "\(clientID),\(webClientID)",
                        "APPLE_KEY_ID": key.keyID, "APPLE_PRIVATE_KEY": key.privateKeyPEM ?? "",
                        "SIWA_SEALING_KEYS":
                            "test=\(Data(SecureRandom.bytes(count: 32)).base64EncodedString())",
                        "SIWA_CHECK_INTERVAL": "\(interval)",
                        "SIWA_API_KEY_HASHES": "test=\(Hexadecimal.encode(APIKeySecret.hash(secret)))",
                        "DATABASE_URL": "sqlite://\(directory.path)/siwa.sqlite",
                    ])
                let result = try await body(relation)
                group.cancelAll()
                return result
            }
        }
    }

    /// Starts the service, with the same database each time.
    func serve(_ more: [String: String] = [:]) async throws -> (service: ServiceProcess, backend: Backend) {
        let service = try await ServiceProcess.serve(directory, variables.merging(more) { $1 })
        let backend = Backend(port: service.port, secret: Self.secret)
        try await eventually { try await backend.get("/readyz").status == 200 }
        return (service, backend)
    }

    /// Log of all services so far, also of services that do not listen yet.
    func loggedText() throws -> String {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasSuffix(".log") }
            .map { try String(contentsOfFile: "\(directory.path)/\($0)", encoding: .utf8) }.joined()
    }

    /// The values that an app gets from Apple: a token, a code, and at the first sign-in a name.
    func authorize(_ user: EmulatedUser) throws -> MintedIdentityToken {
        var recipe = IdentityTokenRecipe()
        recipe.subject = user.subject
        recipe.authorizationCode = .made
        return try apple.mint(recipe)
    }

    /// Signs the user in, with a code.
    func signIn(_ user: EmulatedUser, at backend: Backend) async throws -> Backend.Response {
        let minted = try authorize(user)
        return try await backend.signIn(
            minted.identityToken, [("authorization_code", .string(minted.authorizationCode ?? ""))])
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

    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs SQL, and returns the rows, one per line, with "|" between the columns.
    @discardableResult
    func query(_ sql: String) async throws -> String {
        switch place {
        case .server(let cluster, let name): return try await cluster.superuserQuery(sql, in: name)
        case .file(let path, let directory):
            let run = try await OperatorTool.run(
                "sqlite3", ["-batch", "-bail", "-cmd", ".timeout 5000", path, sql], in: directory)
            guard run.status == 0 else { throw Refused(description: run.output) }
            return run.output.trimmingCharacters(in: .newlines)
        }
    }

    /// Returns all rows of a table as text. Bytes are in hexadecimal.
    func rows(of table: String) async throws -> String {
        let sql = "SELECT * FROM \(table)"
        guard case .file(let path, let directory) = place else { return try await query(sql) }
        let run = try await OperatorTool.run(
            "sqlite3", ["-batch", "-bail", "-quote", path, sql], in: directory)
        guard run.status == 0 else { throw Refused(description: run.output) }
        return run.output
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
