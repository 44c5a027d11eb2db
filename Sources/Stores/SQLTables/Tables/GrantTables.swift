public import AppleAccounts

/// Authorization codes that wait for their exchange. While a code is claimed, `next_attempt_at` is the end of
/// the claim.
public struct AuthorizationCodeTable: Table {
    public static let name = "authorization_code"

    public let id: Column<UniqueID>
    public let accountID: Column<AccountID>
    public let clientID: Column<Int64>
    public let appID: Column<Int64>
    public let redirectURI: Column<String>
    public let sealed: Column<SealedSecret>
    public let authorizedAt: Column<Moment>
    public let receivedAt: Column<Moment>
    public let expiresAt: Column<Moment>
    public let attempts: Column<Int64>
    public let nextAttemptAt: Column<Moment>
    public let isClaimed: Column<Bool>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required)
        accountID = columns("account_id", .operational, .required)
        clientID = columns("client_id", .operational, .required, .nameNumber)
        appID = columns("app_id", .operational, .required, .nameNumber)
        redirectURI = columns("redirect_uri", .operational, .optional)
        sealed = columns("sealed", .secret, .required)
        authorizedAt = columns("authorized_at", .personal, .required)
        receivedAt = columns("received_at", .operational, .required)
        expiresAt = columns("expires_at", .operational, .required)
        attempts = columns("attempts", .operational, .required, .range(0...Int64.max))
        nextAttemptAt = columns("next_attempt_at", .operational, .required)
        isClaimed = columns("is_claimed", .operational, .required)
    }
}

extension AuthorizationCodeTable {
    /// Writes all columns except the numbers of the client ID and of the app.
    @inlinable public func write(_ code: AuthorizationCodeRecord, to row: some WritableRow) {
        row.set(id, code.id)
        row.set(accountID, code.accountID)
        row.set(redirectURI, code.redirectURI)
        row.set(sealed, code.sealed)
        row.set(authorizedAt, code.authorizedAt)
        row.set(receivedAt, code.receivedAt)
        row.set(expiresAt, code.expiresAt)
        row.set(attempts, code.attempts)
        row.set(nextAttemptAt, code.nextAttemptAt)
        row.set(isClaimed, code.isClaimed)
    }

    @inlinable public func record(
        _ row: some ReadableRow, clientID: ClientID, primaryClientID: ClientID
    ) throws(StorageError) -> AuthorizationCodeRecord {
        AuthorizationCodeRecord(
            id: try row.required(id), accountID: try row.required(accountID), clientID: clientID,
            primaryClientID: primaryClientID, redirectURI: row[redirectURI],
            sealed: try row.required(sealed), authorizedAt: try row.required(authorizedAt),
            receivedAt: try row.required(receivedAt), expiresAt: try row.required(expiresAt),
            attempts: try row.required(attempts), nextAttemptAt: try row.required(nextAttemptAt),
            isClaimed: try row.required(isClaimed))
    }
}

/// The newest refresh token of each account and client ID.
public struct RefreshTokenTable: Table {
    public static let name = "refresh_token"

    public let accountID: Column<AccountID>
    public let clientID: Column<Int64>
    public let appID: Column<Int64>
    public let tokenID: Column<UniqueID>
    public let sealed: Column<SealedSecret>
    public let authorizedAt: Column<Moment>
    public let nextCheckAt: Column<Moment>
    /// NULL unless the last check has failed.
    public let uncheckedSince: Column<Moment>

    public init(_ columns: inout ColumnList) {
        accountID = columns("account_id", .operational, .required)
        clientID = columns("client_id", .operational, .required, .nameNumber)
        appID = columns("app_id", .operational, .required, .nameNumber)
        tokenID = columns("token_id", .operational, .required)
        sealed = columns("sealed", .secret, .required)
        authorizedAt = columns("authorized_at", .personal, .required)
        nextCheckAt = columns("next_check_at", .operational, .required)
        uncheckedSince = columns("unchecked_since", .operational, .optional)
    }
}

extension ColumnChoice where T == RefreshTokenTable {
    public static var values: Self { except { [$0.accountID, $0.clientID] } }
}

extension RefreshTokenTable {
    /// Writes all columns except the numbers of the client ID and of the app.
    @inlinable public func write(_ token: RefreshTokenRecord, to row: some WritableRow) {
        row.set(accountID, token.accountID)
        row.set(tokenID, token.id)
        row.set(sealed, token.sealed)
        row.set(authorizedAt, token.authorizedAt)
        row.set(nextCheckAt, token.nextCheckAt)
        row.set(uncheckedSince, token.uncheckedSince)
    }

    @inlinable public func record(
        _ row: some ReadableRow, clientID: ClientID, primaryClientID: ClientID
    ) throws(StorageError) -> RefreshTokenRecord {
        RefreshTokenRecord(
            id: try row.required(tokenID), accountID: try row.required(accountID), clientID: clientID,
            primaryClientID: primaryClientID, sealed: try row.required(sealed),
            authorizedAt: try row.required(authorizedAt), nextCheckAt: try row.required(nextCheckAt),
            uncheckedSince: row[uncheckedSince])
    }
}
