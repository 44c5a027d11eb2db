import AppleAccounts
import GRDB

/// Writes what commands change of codes and tokens.
final class GrantWriter {
    private let names: Names
    private let insertCode: PreparedStatement
    private let removeCode: PreparedStatement
    private let putToken: PreparedStatement
    private let removeToken: PreparedStatement
    private let removeCodes: PreparedStatement
    private let removeTokens: PreparedStatement

    init(_ names: Names, in database: Database) throws {
        self.names = names
        insertCode = try PreparedStatement(
            """
            INSERT INTO authorization_code (
                id, account_id, client_id, app_id, redirect_uri, sealed, authorized_at, expires_at, attempts,
                next_attempt_at, is_claimed)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, ?9, 0) ON CONFLICT (id) DO NOTHING
            """, in: database)
        removeCode = try PreparedStatement("DELETE FROM authorization_code WHERE id = ?", in: database)
        putToken = try PreparedStatement(
            """
            INSERT INTO refresh_token (
                account_id, client_id, app_id, token_id, sealed, authorized_at, next_check_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (account_id, client_id) DO UPDATE SET app_id = excluded.app_id,
                token_id = excluded.token_id, sealed = excluded.sealed,
                authorized_at = excluded.authorized_at, next_check_at = excluded.next_check_at
            """, in: database)
        removeToken = try PreparedStatement(
            "DELETE FROM refresh_token WHERE account_id = ? AND client_id = ?", in: database)
        removeCodes = try PreparedStatement(
            "DELETE FROM authorization_code WHERE account_id = ?", in: database)
        removeTokens = try PreparedStatement("DELETE FROM refresh_token WHERE account_id = ?", in: database)
    }

    func carryOut(_ change: GrantChange) throws {
        switch change {
        case .insertCode(let code): try insert(code)
        case .removeCode(let id):
            removeCode.begin()
            removeCode.bind(id, at: 1)
            try removeCode.execute()
        case .putToken(let token): try put(token)
        case .removeToken(let id, let clientID):
            guard let client = try names.clients.number(of: clientID) else { return }
            removeToken.begin()
            removeToken.bind(id.uniqueID, at: 1)
            removeToken.bind(client, at: 2)
            try removeToken.execute()
        case .removeAll(let id):
            for statement in [removeCodes, removeTokens] {
                statement.begin()
                statement.bind(id.uniqueID, at: 1)
                try statement.execute()
            }
        }
    }

    private func insert(_ code: AuthorizationCodeRecord) throws {
        let client = try names.clients.ensureNumber(of: code.clientID)
        let app = try names.apps.ensureNumber(of: code.primaryClientID)
        insertCode.begin()
        insertCode.bind(code.id, at: 1)
        insertCode.bind(code.accountID.uniqueID, at: 2)
        insertCode.bind(client, at: 3)
        insertCode.bind(app, at: 4)
        insertCode.bind(code.redirectURI, at: 5)
        insertCode.bind(code.sealed.bytes, at: 6)
        insertCode.bind(code.authorizedAt, at: 7)
        insertCode.bind(code.expiresAt, at: 8)
        insertCode.bind(code.nextAttemptAt, at: 9)
        try insertCode.execute()
    }

    private func put(_ token: RefreshTokenRecord) throws {
        let client = try names.clients.ensureNumber(of: token.clientID)
        let app = try names.apps.ensureNumber(of: token.primaryClientID)
        putToken.begin()
        putToken.bind(token.accountID.uniqueID, at: 1)
        putToken.bind(client, at: 2)
        putToken.bind(app, at: 3)
        putToken.bind(token.id, at: 4)
        putToken.bind(token.sealed.bytes, at: 5)
        putToken.bind(token.authorizedAt, at: 6)
        putToken.bind(token.nextCheckAt, at: 7)
        try putToken.execute()
    }
}
