/// Which account events a reader may see.
///
/// An event about a credential is visible to those who may see its app. An event about an account as a whole
/// is visible to those who may see any app of its team, because the account is the team's.
public enum EventVisibility: Sendable, Hashable {
    case everything
    /// The apps by their primary client IDs, and the teams that they belong to.
    case only(clientIDs: Set<ClientID>, teams: Set<TeamID>)

    public func includes(_ event: AccountEvent) -> Bool {
        includesEvents(of: event.clientID, in: event.team)
    }

    /// - Parameter clientID: The app that the event is about; `nil` for one about the account as a whole.
    public func includesEvents(of clientID: ClientID?, in team: TeamID) -> Bool {
        switch self {
        case .everything: true
        case .only(let clientIDs, let teams): clientID.map { clientIDs.contains($0) } ?? teams.contains(team)
        }
    }
}
