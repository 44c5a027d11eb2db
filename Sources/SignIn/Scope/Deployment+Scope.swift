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

    /// Whether a caller may see any app of a team, and with that the team's accounts.
    func allows(_ team: TeamID, in scope: AppScope) -> Bool {
        scope == .all || apps.contains { $0.team == team && scope.allows($0) }
    }

    func visibility(in scope: AppScope) -> EventVisibility {
        guard case .only(let clientIDs) = scope else { return .everything }
        return .only(clientIDs: clientIDs, teams: Set(apps.filter { scope.allows($0) }.map(\.team)))
    }
}
