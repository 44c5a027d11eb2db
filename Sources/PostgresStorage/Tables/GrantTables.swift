import AppleAccounts
import SQLTables

/// Authorization codes that wait for their exchange. While one is claimed, `next_attempt_at` is the end of
/// the claim.
struct AuthorizationCodeTable: Table {
    static let name = "authorization_code"

    let id: Column<UniqueID>
    let accountID: Column<AccountID>
    let clientID: Column<Int64>
    let appID: Column<Int64>
    let redirectURI: Column<String>
    let sealed: Column<SealedSecret>
    let authorizedAt: Column<Moment>
    let expiresAt: Column<Moment>
    let attempts: Column<Int64>
    let nextAttemptAt: Column<Moment>
    let isClaimed: Column<Bool>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        accountID = columns("account_id", .operational)
        clientID = columns("client_id", .operational)
        appID = columns("app_id", .operational)
        redirectURI = columns("redirect_uri", .operational)
        sealed = columns("sealed", .secret)
        authorizedAt = columns("authorized_at", .personal)
        expiresAt = columns("expires_at", .operational)
        attempts = columns("attempts", .operational)
        nextAttemptAt = columns("next_attempt_at", .operational)
        isClaimed = columns("is_claimed", .operational)
    }
}

/// The newest refresh token of each account and client ID.
struct RefreshTokenTable: Table {
    static let name = "refresh_token"

    let accountID: Column<AccountID>
    let clientID: Column<Int64>
    let appID: Column<Int64>
    let tokenID: Column<UniqueID>
    let sealed: Column<SealedSecret>
    let authorizedAt: Column<Moment>
    let nextCheckAt: Column<Moment>

    init(_ columns: inout ColumnList) {
        accountID = columns("account_id", .operational)
        clientID = columns("client_id", .operational)
        appID = columns("app_id", .operational)
        tokenID = columns("token_id", .operational)
        sealed = columns("sealed", .secret)
        authorizedAt = columns("authorized_at", .personal)
        nextCheckAt = columns("next_check_at", .operational)
    }
}

extension ColumnChoice where T == RefreshTokenTable {
    static var values: Self { except { [$0.accountID, $0.clientID] } }
}
