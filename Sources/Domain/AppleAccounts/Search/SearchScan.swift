/// Decides which of the accounts that a search goes through are on its page. The same in all stores.
public struct SearchScan: Sendable {
    private let search: AccountSearch
    private let limit: Int
    private let moment: Moment
    private var accounts: [Account] = []
    private var last: SearchPosition?

    /// - Parameters:
    ///   - limit: The number of accounts of the page, at most.
    ///   - moment: Time at which disablings must hold to count.
    public init(_ search: AccountSearch, limit: Int, at moment: Moment) {
        (self.search, self.limit, self.moment) = (search, limit, moment)
    }

    /// Indicates that the page needs no more accounts.
    public var isFull: Bool { accounts.count >= limit }

    /// Looks at the next account.
    ///
    /// - Parameters:
    ///   - record: `nil` for a row without a user.
    ///   - grants: Returns the apps of the OAuth clients that the account has granted something, by their primary
    ///     client IDs. Called only if the answer depends on it.
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
    /// - Parameter hasMore: True if the search has accounts after the last account that was looked at.
    public func page(hasMore: Bool) -> AccountPage {
        AccountPage(accounts: accounts, next: hasMore ? last : nil)
    }

    /// Compares names, which have no index as a whole. Stores find the other keys exactly.
    private func hasKey(_ account: Account) -> Bool {
        switch search.key {
        case .name(let name): SearchText.matches(account.profile, name: name)
        case .email, .account, .subject, .grant, nil: true
        }
    }
}
