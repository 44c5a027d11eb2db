public import AppleAccounts
public import AuthorizationServer
import SQLTables

extension SQLiteAccountStore: AuthorizationStore {
    public func commit(
        _ commands: [GrantCommand],
        completion: @escaping @Sendable (Result<GrantCommitResult, any Error>) -> Void
    ) {
        writer.enqueue(commands, transaction: { try $0.commitGrants($1) }, completion: completion)
    }

    public func status(ofFamily id: UniqueID) async throws -> TokenStatus? {
        try await read { try $0.oauth().statuses.find(id) }
    }

    public func status(of account: AccountID, app: ClientID) async throws -> AccountStatus? {
        try await read { try $0.subjects.find(account)?.record.status(for: app) }
    }

    public func grants(of account: AccountID) async throws -> [GrantRecord] {
        try await read { try $0.oauth().held.grants(of: account) }
    }

    public func grant(of account: AccountID, for client: OAuthClientID) async throws -> GrantRecord? {
        try await read { try $0.oauth().held.grant(of: account, for: client) }
    }
}
