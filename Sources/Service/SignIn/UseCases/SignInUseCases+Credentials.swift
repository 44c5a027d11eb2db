public import AppleAccounts

extension SignInUseCases {
    /// Returns the state of a user's credential for an app. "Not found" is a state.
    ///
    /// Waits only when the store cannot read without waiting.
    /// - Parameters:
    ///   - subject: Any text. A text that cannot be a `sub` is not found.
    ///   - clientID: Any client ID of the app. The result has the primary client ID.
    /// - Throws: `UnknownClientID`, `CallerForbidden`, `StorageError`.
    public func credential(subject: String, clientID: String, allowed: AppScope) throws -> Step<Credential> {
        let app = try deployment.app(named: clientID, in: allowed)
        guard let subject = AppleSubject(subject) else { return .now(.notFound(in: app)) }
        let (team, clientID) = (app.team, app.primaryClientID)
        if let credential = store.credentialWithoutWaiting(team: team, clientID: clientID, subject: subject) {
            return .now(current(credential))
        }
        return .later {
            let credentials = try await store.credentials(
                team: team, clientID: clientID, subjects: [subject])
            return credentials.first.map { current($0) } ?? .notFound(in: app)
        }
    }

    /// Returns the states of many users' credentials at one moment, in the order of the subjects.
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

    /// Reads the clock only for a disabled account.
    private func current(_ credential: Credential) -> Credential {
        credential.disabledUntil == nil ? credential : credential.current(at: now())
    }
}

extension Credential {
    fileprivate static func notFound(in app: App) -> Credential {
        Credential(clientID: app.primaryClientID, record: CredentialRecord())
    }
}
