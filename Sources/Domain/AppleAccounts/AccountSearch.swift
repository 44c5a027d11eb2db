/// A search for accounts: a known key and a filter.
public struct AccountSearch: Sendable, Hashable {
    /// A property that few accounts share. Comparisons ignore the case of ASCII letters.
    public enum Key: Sendable, Hashable {
        /// The whole address, signed by Apple or posted by the app. It can be a relay address.
        case email(String)
        /// First name, last name, or both separated by one space.
        case name(String)
        case account(AccountID)
        /// A `sub`, searched in every team.
        case subject(AppleSubject)
        case grant(GrantID)
    }

    /// The key; `nil` for all accounts.
    public let key: Key?
    public let filter: AccountFilter
    /// The caller's apps. The search finds only accounts with a credential for one of these apps, and the
    /// filter ignores credentials for other apps.
    public let scope: AppScope

    public init(key: Key? = nil, filter: AccountFilter = AccountFilter(), scope: AppScope) {
        (self.key, self.filter, self.scope) = (key, filter, scope)
    }

    /// Maximum number of accounts examined for a page. This limits the time for each page, so a page can be
    /// empty even if later pages have matches.
    public static let longestScan = 500
}

/// Conditions on an account. One credential must meet all conditions on credentials.
public struct AccountFilter: Sendable, Hashable {
    /// Primary client ID of the credential's app.
    public var clientID: ClientID?
    public var state: CredentialState?
    public var reason: CredentialReason?
    /// True for credentials with an Apple refresh token.
    public var holdsAppleToken: Bool?
    public var isDisabled: Bool?
    /// True for accounts that have a grant to an OAuth client whose app the caller may see.
    public var isLinked: Bool?
    /// Accounts created after this moment.
    public var createdAfter: Moment?

    public init(
        clientID: ClientID? = nil, state: CredentialState? = nil, reason: CredentialReason? = nil,
        holdsAppleToken: Bool? = nil, isDisabled: Bool? = nil, isLinked: Bool? = nil,
        createdAfter: Moment? = nil
    ) {
        self.clientID = clientID
        self.state = state
        self.reason = reason
        self.holdsAppleToken = holdsAppleToken
        self.isDisabled = isDisabled
        self.isLinked = isLinked
        self.createdAfter = createdAfter
    }

    /// Returns true if an account meets all conditions except `isLinked`.
    ///
    /// - Parameter account: The current account, with the credentials that the caller may see.
    public func matches(_ account: Account) -> Bool {
        if let isDisabled, isDisabled != (account.disabling != nil) { return false }
        if let createdAfter, account.createdAt <= createdAfter { return false }
        guard clientID != nil || state != nil || reason != nil || holdsAppleToken != nil else { return true }
        return account.credentials.contains { matches($0) }
    }

    private func matches(_ credential: Credential) -> Bool {
        if let clientID, clientID != credential.clientID { return false }
        if let state, state != credential.state { return false }
        if let reason, reason != credential.reason { return false }
        if let holdsAppleToken, holdsAppleToken != (credential.refreshToken == .held) { return false }
        return true
    }
}

/// A page of found accounts.
public struct AccountPage: Sendable, Hashable {
    /// Accounts, with the credentials that the caller may see.
    public let accounts: [Account]
    /// Position after the last examined account; `nil` if there are no more accounts.
    public let next: SearchPosition?

    public init(accounts: [Account], next: SearchPosition?) {
        (self.accounts, self.next) = (accounts, next)
    }
}

/// The index that a search reads, newest account first.
///
/// The search checks its other conditions on each account that it reads, up to `AccountSearch.longestScan`
/// accounts per page.
public enum SearchPath: Sendable, Hashable {
    /// The few accounts with this key.
    case key(AccountSearch.Key)
    /// Accounts stored as disabled.
    case disabled
    /// Accounts with a grant to an OAuth client.
    case linked
    /// Accounts with an effective revocation for one of these apps,
    /// named by their primary client IDs; for all apps if `nil`.
    case revoked(Set<ClientID>?)
    /// Accounts with a credential for one of these apps.
    case apps(Set<ClientID>)
    /// All accounts, or only those whose IDs were created at this moment or later.
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

    /// True if positions are row numbers instead of account IDs.
    public var countsRows: Bool {
        switch self {
        case .disabled, .revoked, .apps: true
        case .key, .linked, .all: false
        }
    }
}

/// A position in the results of a search: an account ID or, if the search reads credentials, a row number.
/// The newest result comes first in both cases.
public enum SearchPosition: Sendable, Hashable {
    case account(AccountID)
    case row(Int64)

    /// The text for callers: "a" and a UUID, or "r" and a number.
    public var text: String {
        switch self {
        case .account(let id): "a" + id.rawValue.dropFirst(4)
        case .row(let number): "r\(number)"
        }
    }

    /// Parses the format of `text`.
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
    /// The account must have a credential for at least one of these apps; `nil` if it needs no credential.
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
    /// True if only revoked credentials match.
    fileprivate var meansRevoked: Bool {
        if state == .revoked { return true }
        return switch reason {
        case .consentRevoked, .appleAccountDeleted, .refreshTokenRejected, .erased: true
        case .signedIn, nil: false
        }
    }
}

/// Selects a page's accounts from the accounts on a search path. All stores use this type.
public struct SearchScan: Sendable {
    private let search: AccountSearch
    private let limit: Int
    private let moment: Moment
    private var accounts: [Account] = []
    private var last: SearchPosition?

    /// - Parameters:
    ///   - limit: Maximum number of accounts on the page.
    ///   - moment: The current time, which decides whether a disabled period is in effect.
    public init(_ search: AccountSearch, limit: Int, at moment: Moment) {
        (self.search, self.limit, self.moment) = (search, limit, moment)
    }

    /// True if the page needs no further accounts.
    public var isFull: Bool { accounts.count >= limit }

    /// Examines the next account.
    ///
    /// - Parameters:
    ///   - record: The account; `nil` for a row without a user.
    ///   - grants: Returns the apps whose OAuth clients the account has granted access, by primary client ID.
    ///     Called only if the result depends on it.
    public mutating func look(
        at record: SubjectRecord?, _ position: SearchPosition, grants: (AccountID) throws -> [ClientID]
    ) rethrows {
        last = position
        guard let account = record?.account?.narrowed(to: search.scope)?.current(at: moment),
            hasKey(account), search.filter.matches(account)
        else { return }
        if let isLinked = search.filter.isLinked {
            guard try grants(account.id).contains(where: { search.scope.allows($0) }) == isLinked else {
                return
            }
        }
        accounts.append(account)
    }

    /// Returns the page.
    ///
    /// - Parameter hasMore: True if the search has further accounts after the last examined account.
    public func page(hasMore: Bool) -> AccountPage {
        AccountPage(accounts: accounts, next: hasMore ? last : nil)
    }

    /// Compares names, because no index covers the whole name. Stores match the other keys exactly.
    private func hasKey(_ account: Account) -> Bool {
        switch search.key {
        case .name(let name): SearchText.matches(account.profile, name: name)
        case .email, .account, .subject, .grant, nil: true
        }
    }
}

/// Compares names and addresses in searches.
public enum SearchText {
    /// Returns a string's UTF-8 bytes with ASCII letters in lower case, as the stores' indexes hold them.
    public static func folded(_ text: String) -> [UInt8] {
        text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
    }

    /// Maximum number of splits in a name.
    private static let mostDivisions = 4

    /// Returns the last names that a searched name can contain:
    /// the whole name, and the text after each of its spaces.
    public static func lastNames(in name: String) -> [String] {
        let words = name.split(separator: " ", maxSplits: mostDivisions, omittingEmptySubsequences: true)
        return words.indices.map { words[$0...].joined(separator: " ") }
    }

    /// Returns true if a profile has the name that the search looks for.
    public static func matches(_ profile: Profile, name: String) -> Bool {
        let wanted = folded(
            name.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " "))
        guard !wanted.isEmpty else { return false }
        let both = [profile.firstName, profile.lastName].compactMap { $0 }
        return both.contains { folded($0) == wanted } || folded(both.joined(separator: " ")) == wanted
    }
}
