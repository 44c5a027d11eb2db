public import AppleAccounts
import SQLTables

/// Stores accounts in PostgreSQL, with one database for any number of processes.
///
/// A commit is durable before its call returns. Reads see every commit whose call has returned.
public struct PostgresAccountStore: AccountStore {
    /// Number of commands that the store keeps from a failed batch, so that a health check can rehearse them.
    static let largestRehearsal = 8

    let pool: PostgresPool
    private let committer: BatchCommitter
    let health: StoreHealth

    init(
        pool: PostgresPool, sealing: any AppleTokenSealing = NoAppleTokenSealing(),
        health: StoreHealth = StoreHealth()
    ) {
        (self.pool, self.health) = (pool, health)
        committer = BatchCommitter(ids: SubjectIDs(), sealing: sealing)
    }

    public func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        guard !commands.isEmpty else { return CommitResult(results: [], lastEventSequence: nil) }
        let sample = Array(commands.prefix(Self.largestRehearsal))
        let rehearsal: StoreHealth.Rehearsal = { [committer] in try committer.rehearse(sample, in: $0) }
        return try await health.watch(.accounts, rehearsal: rehearsal) {
            try await pool.run { try committer.commit(commands, in: $0) }
        }
    }

    public func account(_ id: AccountID) async throws -> Account? {
        try await pool.run { try PostgresSubjects(names: $0.names).find(id, in: $0)?.record.account }
    }

    public func account(_ key: SubjectKey) async throws -> Account? {
        try await pool.run { try PostgresSubjects(names: $0.names).find(key, in: $0)?.account }
    }

    public func credentials(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject]
    ) async throws -> [Credential] {
        try await pool.run {
            try CredentialReader(names: $0.names)
                .find(team: team, clientID: clientID, subjects: subjects, in: $0)
        }
    }

    public func events(
        after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage {
        try await pool.run {
            try EventReader.page(after: sequence, limit: limit, visibleTo: scope, in: $0)
        }
    }

    public func checkHealth() async throws {
        try await health.check(pool)
    }
}
