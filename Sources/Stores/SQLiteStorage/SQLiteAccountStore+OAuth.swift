public import AppleAccounts
public import AuthorizationServer
public import Cryptography
import GRDB
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
        try await read { try $0.oauth().status(of: account, app: app) }
    }

    public func grants(of account: AccountID) async throws -> [GrantRecord] {
        try await read { try $0.oauth().grants(of: account) }
    }

    public func grant(of account: AccountID, for client: OAuthClientID) async throws -> GrantRecord? {
        try await read { try $0.oauth().grant(of: account, for: client) }
    }

    public func device(withUserCode digest: SHA256Digest) async throws -> DeviceAuthorization? {
        try await reader.read { try $0.oauth().device(withUserCode: digest) }
    }

    public func pace(of account: AccountID, for client: OAuthClientID) async throws -> GrantPace? {
        try await reader.read { try $0.oauth().pace(of: account, for: client) }
    }

    public func isDisabled(googleSubject: String) async throws -> Bool {
        try await reader.read { try $0.oauth().isDisabled(googleSubject: googleSubject) }
    }

    public func purgeGrants(at moment: Moment) async throws -> Int {
        let oldestCode = moment.advanced(byMilliseconds: -CodeRecord.keptAfterExpiry)
        let oldestEvent = moment.advanced(byMilliseconds: -GoogleEventCommand.keptFor)
        let oldestPace = moment.advanced(byMilliseconds: -GrantPace.window)
        let oldestDevice = moment.advanced(byMilliseconds: -DeviceAuthorization.keptAfterExpiry)
        let oldestSalt = moment.advanced(byMilliseconds: -RefreshTokenState.lostResponseTime)
        let oldestRetry = moment.advanced(byMilliseconds: -RefreshTokenState.longestRetryWindow)
        let steps: [(sql: String, end: Moment)] = [
            (Self.purge("oauth_code", "digest", "expires_at < :end ORDER BY expires_at"), oldestCode),
            (Self.purge("oauth_token_family", "id", "expires_at < :end ORDER BY expires_at"), moment),
            (Self.purge("oauth_device", "digest", "expires_at < :end ORDER BY expires_at"), oldestDevice),
            (
                Self.purge(
                    "oauth_grant_pace", "account_id, oauth_client", "begun_at < :end ORDER BY begun_at"),
                oldestPace
            ),
            (Self.purge("google_event", "jti", "received_at < :end ORDER BY received_at"), oldestEvent),
            (
                Self.purge(
                    "google_account", "google_subject",
                    "is_disabled = 0 AND moment < :end ORDER BY moment"), oldestEvent
            ),
            (Self.forget("previous_salt"), oldestSalt), (Self.forget("earlier_tokens"), oldestRetry),
        ]
        return try await writer.run { database in
            var count = 0
            for step in steps {
                try database.execute(
                    sql: step.sql, arguments: ["end": step.end.milliseconds, "limit": Self.largestPurge])
                count += database.changesCount
            }
            return count
        }
    }

    /// Clears a column of token families whose latest exchange is before a time.
    private static func forget(_ column: String) -> String {
        """
        UPDATE oauth_token_family SET \(column) = NULL WHERE id IN (
            SELECT id FROM oauth_token_family WHERE \(column) IS NOT NULL AND rotated_at < :end
            ORDER BY rotated_at LIMIT :limit)
        """
    }

    private static func purge(_ table: String, _ key: String, _ condition: String) -> String {
        "DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) WHERE \(condition) LIMIT :limit)"
    }
}
