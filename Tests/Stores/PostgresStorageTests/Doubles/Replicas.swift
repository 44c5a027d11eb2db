import AppleAccounts
import Logging
import PostgresCluster
import SQLTables
import StorageConformance
import Testing

@testable import PostgresStorage

/// Several pools on one new database, as several replicas of the service have them.
struct Replicas: Sendable {
    let url: String
    let databases: [PostgresDatabase]

    var stores: [PostgresAccountStore] { databases.map(\.accounts) }

    static func with<Value>(
        _ count: Int = 2, _ body: (Replicas) async throws -> Value
    ) async throws -> Value {
        let url = try await PostgresCluster.shared().makeDatabase()
        var databases: [PostgresDatabase] = []
        do {
            for _ in 0..<count {
                databases.append(
                    try await PostgresDatabase.open(
                        url: url, sealing: SampleSealing(), connections: 4, logger: Logger(label: "test")))
            }
            let value = try await body(Replicas(url: url, databases: databases))
            for database in databases { await database.close() }
            return value
        } catch {
            for database in databases { await database.close() }
            throw error
        }
    }

    /// Plays numbered rounds, of which as many run at once as there are workers.
    func play<Round: Sendable>(
        _ rounds: Int, workers: Int, _ round: @escaping @Sendable (Int) async throws -> Round
    ) async throws -> [Round] {
        try await withThrowingTaskGroup(of: [Round].self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var done: [Round] = []
                    for number in stride(from: worker, to: rounds, by: workers) {
                        done.append(try await round(number))
                    }
                    return done
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}

extension Replicas {
    /// The database's name on its server.
    var name: String { url.split(separator: "/").last.map { String($0) } ?? "" }

    /// Opens another database pool, which the caller must close.
    func openAnother() async throws -> PostgresDatabase {
        try await PostgresDatabase.open(
            url: url, sealing: SampleSealing(), connections: 2, logger: Logger(label: "test"))
    }

    /// Every value of every table, as text.
    func dump() async throws -> String {
        let cluster = try await PostgresCluster.shared()
        let tables = try await cluster.superuserQuery(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE tableowner = 'siwa'", in: name
        )
        var text = ""
        for table in tables.split(separator: "\n") {
            text += try await cluster.superuserQuery(
                "SET bytea_output = escape; SELECT entry::text FROM \(table) entry", in: name)
        }
        return text
    }

    /// Breaks every connection to the database.
    func cutConnections() async throws {
        _ = try await PostgresCluster.shared().superuserQuery(
            """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '\(name)'
            """)
    }
}

/// Reading by position, for statements that are written in a test and have no table.
extension PostgresRows {
    func integer(_ row: Int, _ place: Int) -> Int64? { value(row, place) }
    func text(_ row: Int, _ place: Int) -> String? { value(row, place) }
    func boolean(_ row: Int, _ place: Int) -> Bool? { value(row, place) }
    func uuid(_ row: Int, _ place: Int) -> UniqueID? { value(row, place) }

    func bytes(_ row: Int, _ place: Int) -> [UInt8]? { value(row, place) }

    private func value<Value: ColumnValue>(_ row: Int, _ place: Int) -> Value? {
        self[row][Column("test", place: Int32(place))]
    }
}

@Suite struct ConformanceTests {
    @Test(arguments: ConformanceCheck.all)
    func `conforms`(check: ConformanceCheck) async throws {
        try await EmptyStores.shared.use { try await check.run($0) }
    }

    @Test func `conforms without sealing`() async throws {
        try await EmptyStores.shared.use(sealing: NoAppleTokenSealing()) {
            try await ConformanceCheck.withoutSealing.run($0)
        }
    }
}

/// Provides empty stores. Uses a few databases, which are emptied after each use, because making a database
/// takes longer than most tests.
actor EmptyStores {
    static let shared = EmptyStores(count: 4)

    private var unmade: Int
    private var free: [String] = []
    private var waiting: [CheckedContinuation<String, Never>] = []

    init(count: Int) {
        unmade = count
    }

    func use<Value: Sendable>(
        sealing: any AppleTokenSealing = SampleSealing(),
        _ body: @Sendable (PostgresAccountStore) async throws -> Value
    ) async throws -> Value {
        let url = try await take()
        // Sessions of its own, which have nothing in mind of those before.
        let database = try await PostgresDatabase.open(
            url: url, sealing: sealing, logger: Logger(label: "test"))
        do {
            let value = try await body(database.accounts)
            try await finish(database, url)
            return value
        } catch {
            try await finish(database, url)
            throw error
        }
    }

    private func take() async throws -> String {
        if let url = free.popLast() { return url }
        guard unmade > 0 else { return await withCheckedContinuation { waiting.append($0) } }
        unmade -= 1
        return try await PostgresCluster.shared().makeDatabase()
    }

    private func finish(_ database: PostgresDatabase, _ url: String) async throws {
        try await empty(database)
        await database.close()
        if waiting.isEmpty {
            free.append(url)
        } else {
            waiting.removeFirst().resume(returning: url)
        }
    }

    private func empty(_ database: PostgresDatabase) async throws {
        try await database.accounts.pool.run { session in
            try session.execute(
                script: """
                    DELETE FROM account_history;
                    DELETE FROM oauth_code; DELETE FROM oauth_token_family; DELETE FROM oauth_grant;
                    DELETE FROM oauth_device; DELETE FROM oauth_grant_pace;
                    DELETE FROM google_event; DELETE FROM google_account; DELETE FROM signing_key;
                    DELETE FROM event; DELETE FROM credential; DELETE FROM subject;
                    DELETE FROM used_nonce; DELETE FROM nonce_key;
                    DELETE FROM notification_event; DELETE FROM notification; DELETE FROM authorization_code;
                    DELETE FROM refresh_token; DELETE FROM erasure_token; DELETE FROM erasure_app;
                    DELETE FROM erasure; DELETE FROM transfer; DELETE FROM ticket; DELETE FROM client;
                    DELETE FROM app WHERE id <> 0; DELETE FROM team;
                    DELETE FROM app_check_hour; DELETE FROM service_hour; DELETE FROM event_retry; DELETE FROM event_receiver;
                    DELETE FROM app_attest_key;
                    DELETE FROM app_attest_count;
                    UPDATE event_counter SET last_sequence = 0;
                    DELETE FROM audit; DELETE FROM configuration_fingerprint;
                    UPDATE audit_chain SET last_sequence = 0, anchor_sequence = 0,
                        last_hash = sha256('siwa-audit-1'), anchor_hash = sha256('siwa-audit-1');
                    """, name: "empty")
        }
    }
}
