import Logging
import PostgresCluster

@testable import PostgresStorage

/// Hands out stores with nothing in them. A few databases, emptied after each use: to make one takes longer than
/// most tests.
actor EmptyStores {
    static let shared = EmptyStores(count: 4)

    private var unmade: Int
    private var free: [PostgresDatabase] = []
    private var waiting: [CheckedContinuation<PostgresDatabase, Never>] = []

    init(count: Int) {
        unmade = count
    }

    func use<Value: Sendable>(
        _ body: @Sendable (PostgresAccountStore) async throws -> Value
    ) async throws -> Value {
        let database = try await take()
        do {
            // A new store has nothing in mind of the one before.
            let value = try await body(PostgresAccountStore(pool: database.accounts.pool))
            try await empty(database)
            giveBack(database)
            return value
        } catch {
            try await empty(database)
            giveBack(database)
            throw error
        }
    }

    private func take() async throws -> PostgresDatabase {
        if let database = free.popLast() { return database }
        guard unmade > 0 else { return await withCheckedContinuation { waiting.append($0) } }
        unmade -= 1
        let url = try await PostgresCluster.shared().makeDatabase()
        return try await PostgresDatabase.open(url: url, logger: Logger(label: "test"))
    }

    private func giveBack(_ database: PostgresDatabase) {
        if waiting.isEmpty {
            free.append(database)
        } else {
            waiting.removeFirst().resume(returning: database)
        }
    }

    private func empty(_ database: PostgresDatabase) async throws {
        try await database.accounts.pool.run { session in
            try session.execute(
                script: """
                    DELETE FROM event; DELETE FROM credential; DELETE FROM subject; DELETE FROM nonce;
                    DELETE FROM notification_event; DELETE FROM notification; DELETE FROM authorization_code;
                    DELETE FROM refresh_token; DELETE FROM erasure_grant; DELETE FROM erasure_app;
                    DELETE FROM erasure; DELETE FROM transfer; DELETE FROM ticket; DELETE FROM client;
                    DELETE FROM app WHERE id <> 0; DELETE FROM team;
                    UPDATE event_counter SET last_sequence = 0;
                    """, name: "empty")
        }
    }
}
