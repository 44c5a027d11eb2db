/// The way in which a search goes through the accounts, the newest first: always along an index.
///
/// What the way does not decide is decided by reading the accounts, a bounded number for each page
/// (`AccountSearch.longestScan`).
public enum SearchPath: Sendable, Hashable {
    /// The few accounts with this key.
    case key(AccountSearch.Key)
    /// Accounts that are stored as disabled.
    case disabled
    /// Accounts with a grant to an OAuth client.
    case linked
    /// Accounts with a revocation that counts for one of these apps, by primary client IDs; of all apps for `nil`.
    case revoked(Set<ClientID>?)
    /// Accounts with a credential for one of these apps.
    case apps(Set<ClientID>)
    /// All accounts, or those with an ID that was made at this moment or later.
    case all(from: Moment?)

    public init(_ search: AccountSearch) {
        let filter = search.filter
        if let key = search.key {
            self = .key(key)
        } else if filter.isDisabled == true {
            self = .disabled
        } else if filter.isLinked == true {
            self = .linked
        } else if filter.meansRevoked {
            self = .revoked(search.apps)
        } else if let moment = filter.createdAfter {
            self = .all(from: moment)
        } else if let apps = search.apps {
            self = .apps(apps)
        } else {
            self = .all(from: nil)
        }
    }

    /// Indicates that positions are numbers of rows, and not account IDs.
    public var countsRows: Bool {
        switch self {
        case .disabled, .revoked, .apps: true
        case .key, .linked, .all: false
        }
    }
}

/// A position in the order of a search. The order is that of account IDs or, for searches that go along
/// credentials, that of rows; both begin with the newest.
public enum SearchPosition: Sendable, Hashable {
    case account(AccountID)
    case row(Int64)

    /// The form for callers: "a" and an UUID, or "r" and a number.
    public var text: String {
        switch self {
        case .account(let id): "a" + id.rawValue.dropFirst(4)
        case .row(let number): "r\(number)"
        }
    }

    /// Reads the form of `text`.
    public init?(_ text: String) {
        let rest = text.dropFirst()
        switch text.first {
        case "a":
            guard let id = UniqueID(rest) else { return nil }
            self = .account(AccountID(id))
        case "r":
            guard let number = Int64(rest), number >= 0, "\(number)" == rest else { return nil }
            self = .row(number)
        default: return nil
        }
    }
}

extension AccountSearch {
    /// The apps of which an account must have a credential; `nil` when it need not have one.
    fileprivate var apps: Set<ClientID>? {
        switch (scope, filter.clientID) {
        case (.all, nil): nil
        case (.all, .some(let clientID)): [clientID]
        case (.only(let apps), nil): apps
        case (.only(let apps), .some(let clientID)): apps.intersection([clientID])
        }
    }
}

extension AccountFilter {
    /// Indicates that only revoked credentials match.
    fileprivate var meansRevoked: Bool {
        if state == .revoked { return true }
        return switch reason {
        case .consentRevoked, .appleAccountDeleted, .refreshTokenRejected, .erased: true
        case .signedIn, nil: false
        }
    }
}
