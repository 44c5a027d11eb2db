import AppleAccounts
import GRDB

/// Reads authorization codes and refresh tokens.
final class GrantRows {
    static let codeColumns = """
        c.id, c.account_id, c.client_id, c.app_id, c.redirect_uri, c.sealed, c.authorized_at, c.expires_at,
        c.attempts, c.next_attempt_at, c.is_claimed
        """
    static let tokenColumns = """
        t.token_id, t.account_id, t.client_id, t.app_id, t.sealed, t.authorized_at, t.next_check_at
        """

    private let names: Names
    private let findCodes: PreparedStatement
    private let findTokens: PreparedStatement

    init(_ names: Names, in database: Database) throws {
        self.names = names
        findCodes = try PreparedStatement(
            "SELECT \(Self.codeColumns) FROM authorization_code c WHERE c.account_id = ?", in: database)
        findTokens = try PreparedStatement(
            "SELECT \(Self.tokenColumns) FROM refresh_token t WHERE t.account_id = ?", in: database)
    }

    func find(_ id: AccountID) throws -> AccountGrants {
        var found = AccountGrants()
        findCodes.begin()
        findCodes.bind(id.uniqueID, at: 1)
        while try findCodes.step() { found.codes.append(try code(findCodes)) }
        findCodes.finish()
        findTokens.begin()
        findTokens.bind(id.uniqueID, at: 1)
        while try findTokens.step() { found.tokens.append(try token(findTokens)) }
        findTokens.finish()
        return found
    }

    /// Reads `codeColumns` of the row that a statement is at.
    func code(_ row: PreparedStatement) throws -> AuthorizationCodeRecord {
        guard let id = row.uniqueID(0), let account = row.uniqueID(1), let client = row.integer(2),
            let app = row.integer(3), let sealed = row.bytes(5).flatMap({ SealedSecret($0) }),
            let authorizedAt = row.moment(6), let expiresAt = row.moment(7), let attempts = row.integer(8),
            let nextAttemptAt = row.moment(9)
        else { throw StorageError(.corrupted, detail: "a code lacks something") }
        return AuthorizationCodeRecord(
            id: id, accountID: AccountID(account), clientID: try names.clients.name(of: client),
            primaryClientID: try names.apps.name(of: app), redirectURI: row.text(4), sealed: sealed,
            authorizedAt: authorizedAt, expiresAt: expiresAt, attempts: attempts,
            nextAttemptAt: nextAttemptAt, isClaimed: row.integer(10) == 1)
    }

    /// Reads `tokenColumns` of the row that a statement is at.
    func token(_ row: PreparedStatement) throws -> RefreshTokenRecord {
        guard let id = row.uniqueID(0), let account = row.uniqueID(1), let client = row.integer(2),
            let app = row.integer(3), let sealed = row.bytes(4).flatMap({ SealedSecret($0) }),
            let authorizedAt = row.moment(5), let nextCheckAt = row.moment(6)
        else { throw StorageError(.corrupted, detail: "a token lacks something") }
        return RefreshTokenRecord(
            id: id, accountID: AccountID(account), clientID: try names.clients.name(of: client),
            primaryClientID: try names.apps.name(of: app), sealed: sealed, authorizedAt: authorizedAt,
            nextCheckAt: nextCheckAt)
    }
}
