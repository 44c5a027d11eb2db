/// Which apps a caller may ask about.
///
/// An account belongs to all apps that it has, or had when it was erased, a credential for. A caller who may
/// ask about one of them may see it, with the credentials and grants of the caller's apps; to all others it
/// does not exist.
public enum AppScope: Sendable, Hashable {
    case all
    /// By their primary client IDs.
    case only(Set<ClientID>)

    public func allows(_ app: App) -> Bool { allows(app.primaryClientID) }

    public func allows(_ primaryClientID: ClientID) -> Bool {
        switch self {
        case .all: true
        case .only(let clientIDs): clientIDs.contains(primaryClientID)
        }
    }

    /// Whether the caller may see what belongs to all of these apps, named by their primary client IDs. What
    /// belongs to none is for callers who are not limited.
    public func allowsAny(of primaryClientIDs: some Sequence<ClientID>) -> Bool {
        self == .all || primaryClientIDs.contains { allows($0) }
    }

    /// Whether the caller may ask about each of these apps, by their primary client IDs.
    func allowsAll(_ primaryClientIDs: some Sequence<ClientID>) -> Bool {
        primaryClientIDs.allSatisfy { allows($0) }
    }
}
