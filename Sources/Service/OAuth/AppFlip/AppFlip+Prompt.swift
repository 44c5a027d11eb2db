public import AppleAccounts
public import AuthorizationServer
import SignIn

extension AppFlip {
    /// Decides whether the user can be asked, and returns the contents of the app's own sheet. Stores nothing:
    /// the response to the user's decision decides again.
    ///
    /// - Throws: As `response`.
    public func prompt(_ call: AppFlipRequestBody, caller: AppScope) async throws -> AppFlipPrompt {
        switch AppFlipCheck(server.settings).link(call, caller: caller) {
        case .refuse(let refusal): throw refusal
        case .response(let response): return .refused(response, endsWithSignIn: false)
        case .ask(let link):
            // Before a user signs in, the request is checked, so that no user signs in for a link that fails.
            guard let id = call.accountID else { return .ask(LinkQuestion(link, server.settings)) }
            do {
                return try await prompt(link, id, authenticatedAt: call.authenticatedAt, caller: caller)
            } catch is StorageError {
                return .refused(link.response(.unavailable), endsWithSignIn: false)
            }
        }
    }

    private func prompt(
        _ link: AppFlipLink, _ id: String, authenticatedAt: Moment?, caller: AppScope
    ) async throws -> AppFlipPrompt {
        func refused(_ obstacle: AppFlipObstacle) -> AppFlipPrompt {
            .refused(link.response(obstacle), endsWithSignIn: obstacle.endsWithSignIn)
        }
        switch try await account(id, link, authenticatedAt: authenticatedAt, caller: caller) {
        case .obstacle(let obstacle): return refused(obstacle)
        case .known(let account, let authenticatedAt):
            guard let status = try await server.dependencies.store.status(of: account, app: link.client.app)
            else { return refused(try await obstacle(ofMissing: account, caller: caller)) }
            let now = server.now()
            guard !status.isDisabled(at: now) else { return refused(.accountDisabled) }
            do throws(GrantRefusal) {
                _ = try status.credential.authorization(
                    forAuthenticationAt: authenticatedAt,
                    notBefore: link.authenticationAge.earliest(at: now))
            } catch {
                guard let obstacle = AppFlipObstacle(error.code) else { throw error }
                return refused(obstacle)
            }
            guard status.admits(authenticatedAt: authenticatedAt) else { return refused(.credentialRevoked) }
            guard try await !isAtLimit(account, link.client.id, at: now) else {
                return refused(.tooManyGrants)
            }
            return .ask(LinkQuestion(link, server.settings, account: status.account))
        }
    }

    /// Returns `true` if the user has given the client too many new grants within an hour. An existing grant is
    /// only widened, and does not count.
    private func isAtLimit(_ account: AccountID, _ client: OAuthClientID, at now: Moment) async throws -> Bool
    {
        let store = server.dependencies.store
        guard try await store.grant(of: account, for: client) == nil else { return false }
        return try await store.pace(of: account, for: client)?.isFull(at: now) ?? false
    }
}
