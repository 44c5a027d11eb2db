public import AppleAccounts
import Commits

extension SignInUseCases {
    /// Disables an account. A repetition with other values replaces them.
    ///
    /// - Parameter until: Moment from which the account is enabled again; `nil` without an end.
    /// - Throws: `DisablingOver` for an end that is not in the future; `CallerForbidden` when the caller may
    ///   see some but not all apps that the account has a credential for; `AccountRefusal`
    ///   `account_not_found`, `StorageError`, `OverloadedError`.
    public func disable(
        id: String, reason: Disabling.Reason, until: Moment?, allowed: AppScope
    ) async throws -> Account {
        let moment = now()
        if let until, until <= moment { throw DisablingOver() }
        return try await change(id, allowed) { id, key in
            DisableCommand(
                key: key, accountID: id, reason: reason, until: until ?? .last, scope: allowed, moment: moment
            )
        }
    }

    /// Enables an account. An account that is not disabled stays as it is.
    ///
    /// - Throws: `CallerForbidden`, `AccountRefusal` `account_not_found`, `StorageError`, `OverloadedError`.
    public func enable(id: String, allowed: AppScope) async throws -> Account {
        let moment = now()
        return try await change(id, allowed) { id, key in
            EnableCommand(key: key, accountID: id, scope: allowed, moment: moment)
        }
    }

    /// Signs a user out everywhere: ends the grants of OAuth clients and the sessions of browsers.
    ///
    /// - Parameter keptClients: OAuth clients whose grants stay.
    /// - Throws: `CallerForbidden`, `AccountRefusal` `account_not_found`, `StorageError`, `OverloadedError`.
    public func signOut(
        id: String, keeping keptClients: Set<OAuthClientID>, allowed: AppScope
    ) async throws -> Account {
        let moment = now()
        return try await change(id, allowed) { id, key in
            SignOutCommand(
                key: key, accountID: id, keptClients: keptClients, scope: allowed, moment: moment)
        }
    }

    /// Commits a command about the account with this ID, under its present key.
    private func change<Change: AccountChangeCommand>(
        _ text: String, _ allowed: AppScope, _ command: (AccountID, SubjectKey) -> Change
    ) async throws -> Account {
        guard let id = AccountID(text) else { throw AccountRefusal(.accountNotFound) }
        var refused: SubjectKey?
        // An account that is not found under its key has been erased meanwhile, or transferred to another
        // key. The account is then read once more.
        while let account = try await store.account(id) {
            let key = SubjectKey(team: account.team, subject: account.subject)
            guard key != refused else { break }
            do {
                return try await refusedChanges.limiting(allowed, at: now()) {
                    try await commits.submit(command(id, key)).current(at: now())
                }
            } catch let refusal as AccountRefusal where refusal.code == .callerForbidden {
                throw CallerForbidden()
            } catch let refusal as AccountRefusal where refusal.code == .accountNotFound {
                refused = key
            }
        }
        throw AccountRefusal(.accountNotFound)
    }
}
