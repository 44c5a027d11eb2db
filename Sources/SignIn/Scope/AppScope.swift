public import AppleAccounts

/// Which apps a caller may ask about.
public enum AppScope: Sendable, Hashable {
    case all
    /// By their primary client IDs.
    case only(Set<ClientID>)

    public func allows(_ app: App) -> Bool {
        switch self {
        case .all: true
        case .only(let clientIDs): clientIDs.contains(app.primaryClientID)
        }
    }

    /// Whether the caller may ask about each of these apps, by their primary client IDs.
    func allowsAll(_ primaryClientIDs: [ClientID]) -> Bool {
        switch self {
        case .all: true
        case .only(let clientIDs): clientIDs.isSuperset(of: primaryClientIDs)
        }
    }
}
