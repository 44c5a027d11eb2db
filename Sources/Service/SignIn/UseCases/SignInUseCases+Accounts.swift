public import AppleAccounts

extension SignInUseCases {
    /// Returns the account with this ID. For a caller who may see none of its credentials the account does
    /// not exist.
    ///
    /// - Throws: `AccountRefusal` `account_not_found`, `StorageError`.
    public func account(id: String, allowed: AppScope) async throws -> Account {
        guard let id = AccountID(id), let account = try await store.account(id)?.narrowed(to: allowed)
        else { throw AccountRefusal(.accountNotFound) }
        return account.current(at: now())
    }

    /// Returns the account of the user that Apple calls `subject` in the team of an app. For a caller who may
    /// see none of its credentials the account does not exist.
    ///
    /// - Throws: `UnknownClientID`, `CallerForbidden`, `AccountRefusal` `account_not_found`, `StorageError`.
    public func account(subject: String, clientID: String, allowed: AppScope) async throws -> Account {
        let app = try deployment.app(named: clientID, in: allowed)
        guard let subject = AppleSubject(subject),
            let account = try await store.account(SubjectKey(team: app.team, subject: subject))?
                .narrowed(to: allowed)
        else { throw AccountRefusal(.accountNotFound) }
        return account.current(at: now())
    }
}
