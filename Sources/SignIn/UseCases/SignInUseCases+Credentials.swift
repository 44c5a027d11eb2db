public import AppleAccounts

extension SignInUseCases {
    /// What a person's credential for an app is worth. "Not found" is an answer.
    ///
    /// - Parameters:
    ///   - subject: Any text: what cannot be a `sub` is not found.
    ///   - clientID: Any client ID of the app; the answer names the primary one.
    /// - Throws: `UnknownClientID`, `CallerForbidden`, `StorageError`.
    public func credential(subject: String, clientID: String, allowed: AppScope) async throws -> Credential {
        let app = try deployment.app(named: clientID, in: allowed)
        guard let subject = AppleSubject(subject) else { return .notFound(in: app) }
        let credentials = try await store.credentials(
            team: app.team, clientID: app.primaryClientID, subjects: [subject])
        return credentials.first ?? .notFound(in: app)
    }

    /// The same without waiting: `nil` when the store cannot say without, and `credential` has to be asked.
    ///
    /// - Throws: `UnknownClientID`, `CallerForbidden`.
    public func credentialNow(subject: String, clientID: String, allowed: AppScope) throws -> Credential? {
        let app = try deployment.app(named: clientID, in: allowed)
        guard let subject = AppleSubject(subject) else { return .notFound(in: app) }
        return store.credentialNow(team: app.team, clientID: app.primaryClientID, subject: subject)
    }

    /// The same for many persons at one moment, in their order.
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
            return credential
        }
    }
}

extension Credential {
    fileprivate static func notFound(in app: App) -> Credential {
        Credential(clientID: app.primaryClientID, record: CredentialRecord())
    }
}
