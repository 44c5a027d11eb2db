import AppleAccounts

/// The user of an event. Events with equal values are delivered one after the other.
enum EventOrder: Hashable, Sendable {
    /// The ID outlives transfers and erasures, so the key of an account's events never changes.
    case account(AccountID)
    /// A user without an account.
    case user(SubjectKey)
    /// Erased users without an account.
    case erased

    init(_ event: AccountEvent) {
        if let account = event.accountID {
            self = .account(account)
        } else {
            self = event.key.map { .user($0) } ?? .erased
        }
    }
}
