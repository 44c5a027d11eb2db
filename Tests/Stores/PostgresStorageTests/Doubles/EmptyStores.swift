import AppleAccounts
import Logging
import PostgresCluster
import StorageConformance

@testable import PostgresStorage

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
