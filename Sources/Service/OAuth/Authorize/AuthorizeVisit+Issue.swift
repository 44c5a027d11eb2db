import AppleAccounts
import AuthorizationServer
import Commits
import Cryptography
import SignIn

extension AuthorizeVisit {
    /// Writes the code, and returns the URL with which it goes to the client.
    ///
    /// - Throws: `GrantRefusal` when the credential is not valid any more, `StorageError`, `OverloadedError`.
    func issue(_ scopes: ScopeSet, _ session: BrowserSession) async throws -> String {
        let client = request.client
        let code = AuthorizationCodeText(random: SecureRandom.bytes(count: 32))
        var generator = SystemRandomNumberGenerator()
        let command = AuthorizeCommand(
            accountID: session.accountID, newGrantID: GrantID(UniqueID(at: now, using: &generator)),
            oauthClientID: client.id, clientID: client.app, codeDigest: code.digest,
            redirectURI: request.target.text, challenge: request.challenge?.stored, scope: scopes.text,
            nonce: request.nonce, authenticatedAt: session.authenticatedAt,
            // The client's bound only: a `max_age` of the request was checked when the page was shown.
            authenticatedAfter: AuthenticationAge(longest: client.maxAuthenticationAge).earliest(at: now),
            moment: now,
            expiresAt: now.advanced(byMilliseconds: client.lifetimes.code * 1000))
        _ = try await useCase.commits.submit(command)
        return request.response.location(code: code.text)
    }
}
