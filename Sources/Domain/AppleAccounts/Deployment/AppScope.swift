/// Apps that a caller may ask about.
///
/// An account belongs to all apps that it has a credential for, or had at its erasure. A caller who may ask
/// about at least one of these apps may see the account, with the credentials and tokens of the caller's
/// apps; to all other callers the account does not exist.
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

    /// Returns true if the caller may see an object that belongs to these apps, named by their primary client
    /// IDs. An object that belongs to no app is only for callers without a limit.
    public func allowsAny(of primaryClientIDs: some Sequence<ClientID>) -> Bool {
        self == .all || primaryClientIDs.contains { allows($0) }
    }

    /// Returns true if the caller may ask about each of these apps, by their primary client IDs.
    func allowsAll(_ primaryClientIDs: some Sequence<ClientID>) -> Bool {
        primaryClientIDs.allSatisfy { allows($0) }
    }
}
