import AppleAccounts

extension SignInUseCases {
    /// The outcome that a sign-in in a browser had, read again.
    ///
    /// - Throws: `CallerForbidden`, `AccountRefusal` `account_not_found`, `StorageError`.
    func outcome(of result: WebResult, allowed: AppScope) async throws -> SignInOutcome {
        guard let app = deployment.app(for: result.clientID), allowed.allows(app) else {
            throw CallerForbidden()
        }
        let account = try await account(id: result.accountID.rawValue, allowed: allowed)
        guard let credential = account.credentials.first(where: { $0.clientID == app.primaryClientID }) else {
            throw AccountRefusal(.accountNotFound)
        }
        return SignInOutcome(account: account, credential: credential, isNewAccount: result.isNewAccount)
    }
}
