import AppleAccounts

extension Deployment {
    /// The app that a caller names by one of its client IDs.
    ///
    /// - Throws: `UnknownClientID`, `CallerForbidden`.
    func app(named clientID: String, in scope: AppScope) throws -> App {
        guard let clientID = ClientID(clientID), let app = app(for: clientID) else { throw UnknownClientID() }
        guard scope.allows(app) else { throw CallerForbidden() }
        return app
    }
}
