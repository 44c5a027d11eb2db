/// Which account events a reader may see.
///
/// An event about a credential is visible to those who may see its app. An event about an account as a whole
/// is visible to those who may see any app of its team, because the account is the team's.
public enum EventVisibility: Sendable, Hashable {
    case everything
    /// The apps by their primary client IDs, and the teams that they belong to.
    case only(clientIDs: Set<ClientID>, teams: Set<TeamID>)

    public func includes(_ event: AccountEvent) -> Bool {
        switch self {
        case .everything: true
        case .only(let clientIDs, let teams):
            event.clientID.map { clientIDs.contains($0) } ?? teams.contains(event.team)
        }
    }
}
