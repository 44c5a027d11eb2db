public import AppleAccounts
public import AuthorizationServer

/// Statements that delete expired OAuth 2.0 data, for both databases.
enum GrantPurgeStatements {
    /// The purge statements, each with its rows' retention time.
    static let all: [(purge: SQLStatement<Void, Moment, Int64>, keptFor: Int64)] = [
        (OAuthCodeTable.purge(by: "digest", before: "expires_at"), CodeRecord.keptAfterExpiry),
        (OAuthTokenFamilyTable.purge(by: "id", before: "expires_at"), 0),
        (OAuthDeviceTable.purge(by: "digest", before: "expires_at"), DeviceAuthorization.keptAfterExpiry),
        (OAuthGrantPaceTable.purge(by: "account_id, oauth_client", before: "begun_at"), GrantPace.window),
        (GoogleEventTable.purge(by: "jti", before: "received_at"), GoogleEventCommand.keptFor),
        (
            GoogleAccountTable.purge(by: "google_subject", before: "moment") {
                "\($0.isFalse("is_disabled")) AND "
            }, GoogleEventCommand.keptFor
        ),
        (forget("previous_salt"), RefreshTokenState.lostResponseTime),
        (forget("earlier_tokens"), RefreshTokenState.longestRetryWindow),
    ]

    /// Returns a statement that clears a column in token families last exchanged before a given time.
    private static func forget(_ column: String) -> SQLStatement<Void, Moment, Int64> {
        SQLStatement("forget_\(column)") { dialect, end, limit in
            """
            UPDATE oauth_token_family SET \(column) = NULL WHERE id IN (
                SELECT id FROM oauth_token_family WHERE \(column) IS NOT NULL AND rotated_at < \(end)
                ORDER BY rotated_at LIMIT \(limit) \(dialect.skippingLocked))
            """
        }
    }
}

extension AuthorizationStore where Self: SQLStore {
    public func purgeGrants(at moment: Moment) async throws -> Int {
        try await once { session in
            try GrantPurgeStatements.all.reduce(0) { count, sweep in
                let end = moment.advanced(byMilliseconds: -sweep.keptFor)
                return try count + session.run(sweep.purge(end, Int64(Self.largestPurge)))
            }
        }
    }
}
