public import AppleAccounts

/// The table of authorization codes that wait for their exchange. While a code is claimed, `next_attempt_at`
/// is the time at which the claim ends.
public typealias AuthorizationCodeTable = RecordTable<AuthorizationCodeRecord>

extension AuthorizationCodeRecord: StoredRecord {
    public typealias Given = (clientID: ClientID, primaryClientID: ClientID)

    public static var table: String { "authorization_code" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        AuthorizationCodeRecord(
            id: try column("id", .operational, \.id),
            accountID: try column("account_id", .operational, \.accountID),
            clientID: column.number("client_id") { $0.clientID },
            primaryClientID: column.number("app_id") { $0.primaryClientID },
            redirectURI: try column("redirect_uri", .operational, \.redirectURI),
            sealed: try column("sealed", .secret, \.sealed),
            authorizedAt: try column("authorized_at", .personal, \.authorizedAt),
            receivedAt: try column("received_at", .operational, \.receivedAt),
            expiresAt: try column("expires_at", .operational, \.expiresAt),
            attempts: try column("attempts", .operational, \.attempts, .range(0...Int64.max)),
            nextAttemptAt: try column("next_attempt_at", .operational, \.nextAttemptAt),
            isClaimed: try column("is_claimed", .operational, \.isClaimed))
    }
}

/// The table of refresh tokens: the newest for each account and client ID.
public typealias RefreshTokenTable = RecordTable<RefreshTokenRecord>

extension RefreshTokenRecord: StoredRecord {
    public typealias Given = (clientID: ClientID, primaryClientID: ClientID)

    public static var table: String { "refresh_token" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        let accountID = try column("account_id", .operational, \.accountID)
        let clientID = column.number("client_id") { $0.clientID }
        let primaryClientID = column.number("app_id") { $0.primaryClientID }
        return RefreshTokenRecord(
            id: try column("token_id", .operational, \.id), accountID: accountID, clientID: clientID,
            primaryClientID: primaryClientID, sealed: try column("sealed", .secret, \.sealed),
            authorizedAt: try column("authorized_at", .personal, \.authorizedAt),
            nextCheckAt: try column("next_check_at", .operational, \.nextCheckAt),
            // Time since which checks have failed; NULL unless the last check failed.
            uncheckedSince: try column("unchecked_since", .operational, \.uncheckedSince))
    }
}

extension ColumnChoice where T == RefreshTokenTable {
    public static var values: Self { except { [$0.accountID, $0["client_id", Int64.self]] } }
}
