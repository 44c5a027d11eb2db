public import AppleAccounts
public import Commits

extension SignInUseCases {
    /// Disables an account. If the account is already disabled, the new values replace the stored values.
    ///
    /// - Parameter until: Time at which the account is enabled again; `nil` if it stays disabled.
    /// - Throws: `DisablingOver` if the end is not in the future; `CallerForbidden` if the caller has access
    ///   to some but not all apps that the account has credentials for; `AccountRefusal` with the code
    ///   `account_not_found`; `StorageError`, `OverloadedError`.
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

    /// Enables an account. An enabled account does not change.
    ///
    /// - Throws: `CallerForbidden`; `AccountRefusal` with the code `account_not_found`; `StorageError`,
    ///   `OverloadedError`.
    public func enable(id: String, allowed: AppScope) async throws -> Account {
        let moment = now()
        return try await change(id, allowed) { id, key in
            EnableCommand(key: key, accountID: id, scope: allowed, moment: moment)
        }
    }

    /// Signs a user out everywhere: ends the OAuth clients' grants and the browser sessions.
    ///
    /// - Parameter keptClients: OAuth clients whose grants remain.
    /// - Throws: `CallerForbidden`; `AccountRefusal` with the code `account_not_found`; `StorageError`,
    ///   `OverloadedError`.
    public func signOut(
        id: String, keeping keptClients: Set<OAuthClientID>, allowed: AppScope
    ) async throws -> Account {
        let moment = now()
        return try await change(id, allowed) { id, key in
            SignOutCommand(
                key: key, accountID: id, keptClients: keptClients, scope: allowed, moment: moment)
        }
    }

    /// Commits a command about the account with this ID, under the account's current key.
    private func change<Change: AccountChangeCommand>(
        _ text: String, _ allowed: AppScope, _ command: (AccountID, SubjectKey) -> Change
    ) async throws -> Account {
        guard let id = AccountID(text) else { throw AccountRefusal(.accountNotFound) }
        var refused: SubjectKey?
        // An account that is not found under its key was erased or was transferred to another key, so the
        // loop reads the account again.
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

extension SignInUseCases {
    /// Returns the state of a user's credential for an app. "Not found" is one of the states.
    ///
    /// Waits only if the store cannot read synchronously.
    /// - Parameters:
    ///   - subject: Any string. A string that is not a valid `sub` is not found.
    ///   - clientID: Any client ID of the app. The result contains the primary client ID.
    /// - Throws: `UnknownClientID`, `CallerForbidden`, `StorageError`.
    public func credential(subject: String, clientID: String, allowed: AppScope) throws -> Step<Credential> {
        let app = try deployment.app(named: clientID, in: allowed)
        guard let subject = AppleSubject(subject) else { return .now(.notFound(in: app)) }
        let (team, clientID) = (app.team, app.primaryClientID)
        if let credential = store.credentialWithoutWaiting(team: team, clientID: clientID, subject: subject) {
            return .now(current(credential))
        }
        return .later { [self] in
            let credentials = try await store.credentials(
                team: team, clientID: clientID, subjects: [subject])
            return credentials.first.map { current($0) } ?? .notFound(in: app)
        }
    }

    /// Returns the states of many users' credentials from the same moment, in subject order.
    ///
    /// - Throws: `UnknownClientID`, `CallerForbidden`, `StorageError`.
    public func credentials(
        subjects: [String], clientID: String, allowed: AppScope
    ) async throws -> [Credential] {
        let app = try deployment.app(named: clientID, in: allowed)
        let known = subjects.map { AppleSubject($0) }
        var found = try await store.credentials(
            team: app.team, clientID: app.primaryClientID, subjects: known.compactMap { $0 }
        ).makeIterator()
        return known.map { subject in
            guard subject != nil, let credential = found.next() else { return .notFound(in: app) }
            return current(credential)
        }
    }

    /// Returns the credential with its current state. Reads the clock only for a disabled account.
    private func current(_ credential: Credential) -> Credential {
        credential.disabledUntil == nil ? credential : credential.current(at: now())
    }
}

extension Credential {
    fileprivate static func notFound(in app: App) -> Credential {
        Credential(clientID: app.primaryClientID, record: CredentialRecord())
    }
}
