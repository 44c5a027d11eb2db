public import AppleAccounts
public import AuthorizationServer
public import Cryptography
import SQLTables

extension PostgresAccountStore: AuthorizationStore {
    public func commit(
        _ commands: [GrantCommand],
        completion: @escaping @Sendable (Result<GrantCommitResult, any Error>) -> Void
    ) {
        // One caller must not cancel the commands of the others, so this task has no parent.
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
        try await pool.run { try OAuthReader.status(of: account, app: app, in: $0) }
    }

    public func grants(of account: AccountID) async throws -> [GrantRecord] {
        try await pool.run { try StoredGrantRows.grants(of: account, in: $0) }
    }

    public func grant(of account: AccountID, for client: OAuthClientID) async throws -> GrantRecord? {
        try await grants(of: account).first { $0.oauthClientID == client }
    }

    public func device(withUserCode digest: SHA256Digest) async throws -> DeviceAuthorization? {
        try await pool.run { try DeviceRows.find(userCode: digest, in: $0) }
    }

    public func pace(of account: AccountID, for client: OAuthClientID) async throws -> GrantPace? {
        try await pool.run { try GrantSelectionRows.paces(of: account, in: $0) }
            .first { $0.oauthClientID == client }
    }

    public func isDisabled(googleSubject: String) async throws -> Bool {
        try await pool.run { try GrantSelectionRows.isDisabled(googleSubject, in: $0) }
    }

    public func purgeGrants(at moment: Moment) async throws -> Int {
        let oldestCode = moment.advanced(byMilliseconds: -CodeRecord.keptAfterExpiry)
        let oldestEvent = moment.advanced(byMilliseconds: -GoogleEventCommand.keptFor)
        let oldestPace = moment.advanced(byMilliseconds: -GrantPace.window)
        let oldestDevice = moment.advanced(byMilliseconds: -DeviceAuthorization.keptAfterExpiry)
        let oldestSalt = moment.advanced(byMilliseconds: -RefreshTokenState.lostResponseTime)
        let oldestRetry = moment.advanced(byMilliseconds: -RefreshTokenState.longestRetryWindow)
        let ends = [
            oldestCode, moment, oldestDevice, oldestPace, oldestEvent, oldestEvent, oldestSalt, oldestRetry,
        ]
        let limit = Int64(Self.largestPurge)
        return try await pool.run { session in
            var count = 0
            for (purge, end) in zip(Self.purges, ends) {
                count += try session.run(purge(end, limit)).affected
            }
            return count
        }
    }

    private static let purges = [
        purge("oauth_code", "digest", "expires_at"), purge("oauth_token_family", "id", "expires_at"),
        purge("oauth_device", "digest", "expires_at"),
        purge("oauth_grant_pace", "account_id, oauth_client", "begun_at"),
        purge("google_event", "jti", "received_at"),
        purge("google_account", "google_subject", "moment", of: "NOT is_disabled AND"),
        forget("previous_salt"), forget("earlier_tokens"),
    ]

    /// Clears a column of token families whose latest exchange is before a time.
    private static func forget(_ column: String) -> TypedStatement<Moment, Int64> {
        TypedStatement("forget_\(column)") { end, limit in
            """
            UPDATE oauth_token_family SET \(column) = NULL WHERE id IN (
                SELECT id FROM oauth_token_family WHERE \(column) IS NOT NULL AND rotated_at < \(end)
                ORDER BY rotated_at LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        }
    }

    private static func purge(
        _ table: String, _ key: String, _ time: String, of condition: String = ""
    ) -> TypedStatement<Moment, Int64> {
        TypedStatement("purge_\(table)") { end, limit in
            """
            DELETE FROM \(table) WHERE (\(key)) IN (
                SELECT \(key) FROM \(table) WHERE \(condition) \(time) < \(end) ORDER BY \(time)
                LIMIT \(limit) FOR UPDATE SKIP LOCKED)
            """
        }
    }
}
