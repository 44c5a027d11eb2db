import AppleAccounts
public import AuthorizationServer
import Commits

/// `POST /oauth/revoke` (RFC 7009).
public struct TokenRevocation: Sendable {
    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// Ends the token family of a token of this client. A token that is unknown, of another client or ended
    /// already is left alone, and the client does not learn the cause.
    ///
    /// - Throws: `StorageError`, `OverloadedError`.
    public func revoke(_ text: String, of client: OAuthClient) async throws {
        let token: RevokeCommand.Token
        if let refreshToken = RefreshTokenText(parsing: text) {
            token = .refresh(refreshToken)
        } else if let accessToken = try await server.genuineAccessToken(text),
            accessToken.clientID == client.id
        {
            token = .access(familyID: accessToken.familyID)
        } else {
            return
        }
        let command = RevokeCommand(oauthClientID: client.id, token: token, moment: server.now())
        do {
            try await server.dependencies.commits.submit(command)
        } catch is GrantRefusal {
            // There is no token to end.
        }
    }
}
