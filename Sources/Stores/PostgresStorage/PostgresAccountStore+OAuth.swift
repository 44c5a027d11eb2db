public import AppleAccounts
public import AuthorizationServer
import SQLTables

extension PostgresAccountStore: AuthorizationStore {
    public func commit(
        _ commands: [GrantCommand],
        completion: @escaping @Sendable (Result<GrantCommitResult, any Error>) -> Void
    ) {
        // This task has no parent, because cancelling one caller must not cancel the commands of other
        // callers.
        Task {
            do {
                let sample = Array(commands.prefix(Self.largestRehearsal))
                let rehearsal: StoreHealth.Rehearsal = { _ = try GrantBatch.commit(sample, in: $0) }
                completion(
                    .success(
                        try await health.watch(.grants, rehearsal: rehearsal) {
                            try await pool.run { try GrantBatch.commit(commands, in: $0) }
                        }))
            } catch {
                completion(.failure(error))
            }
        }
    }

    public func status(ofFamily id: UniqueID) async throws -> TokenStatus? {
        try await pool.run { try OAuthReader.status(ofFamily: id, in: $0) }
    }

    public func status(of account: AccountID, app: ClientID) async throws -> AccountStatus? {
        try await pool.run {
            try PostgresSubjects(names: $0.names).find(account, in: $0)?.record.status(for: app)
        }
    }

    public func grants(of account: AccountID) async throws -> [GrantRecord] {
        try await pool.run { try StoredGrantRows.grants(of: account, in: $0) }
    }

    public func grant(of account: AccountID, for client: OAuthClientID) async throws -> GrantRecord? {
        try await grants(of: account).first { $0.oauthClientID == client }
    }
}
