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

extension AuthorizationCodeTable {
    func bind(
        _ code: AuthorizationCodeRecord, client: Int64, app: Int64, to statement: PreparedStatement
    ) {
        statement.bind(code.id, to: id)
        statement.bind(code.accountID, to: accountID)
        statement.bind(client, to: clientID)
        statement.bind(app, to: appID)
        statement.bind(code.redirectURI, to: redirectURI)
        statement.bind(code.sealed, to: sealed)
        statement.bind(code.authorizedAt, to: authorizedAt)
        statement.bind(code.expiresAt, to: expiresAt)
        statement.bind(0, to: attempts)
        statement.bind(code.nextAttemptAt, to: nextAttemptAt)
        statement.bind(false, to: isClaimed)
    }

    func record(_ row: PreparedStatement, _ names: Names) throws -> AuthorizationCodeRecord {
        AuthorizationCodeRecord(
            id: try row.required(id), accountID: try row.required(accountID),
            clientID: try names.clients.name(of: row.required(clientID)),
            primaryClientID: try names.apps.name(of: row.required(appID)), redirectURI: row[redirectURI],
            sealed: try row.required(sealed), authorizedAt: try row.required(authorizedAt),
            expiresAt: try row.required(expiresAt), attempts: try row.required(attempts),
            nextAttemptAt: try row.required(nextAttemptAt), isClaimed: try row.required(isClaimed))
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

extension RefreshTokenTable {
    func bind(_ token: RefreshTokenRecord, client: Int64, app: Int64, to statement: PreparedStatement) {
        statement.bind(token.accountID, to: accountID)
        statement.bind(client, to: clientID)
        statement.bind(app, to: appID)
        statement.bind(token.id, to: tokenID)
        statement.bind(token.sealed, to: sealed)
        statement.bind(token.authorizedAt, to: authorizedAt)
        statement.bind(token.nextCheckAt, to: nextCheckAt)
    }

    func record(_ row: PreparedStatement, _ names: Names) throws -> RefreshTokenRecord {
        RefreshTokenRecord(
            id: try row.required(tokenID), accountID: try row.required(accountID),
            clientID: try names.clients.name(of: row.required(clientID)),
            primaryClientID: try names.apps.name(of: row.required(appID)), sealed: try row.required(sealed),
            authorizedAt: try row.required(authorizedAt), nextCheckAt: try row.required(nextCheckAt))
    }
}
