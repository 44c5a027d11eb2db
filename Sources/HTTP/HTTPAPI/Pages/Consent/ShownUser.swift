import AppleAccounts

/// Facts about a user that the consent page and the prompt of App Flip show.
struct ShownUser {
    let name: String?
    let email: String?
    /// The address that a client with the scope `email` gets.
    let sharedEmail: SharedEmail

    enum SharedEmail {
        case own(String)
        /// A relay address of Apple.
        case relay(String)
        case unknown
    }

    init(_ account: Account) {
        let parts = [account.profile.firstName, account.profile.lastName].compactMap { $0 }
        name = parts.isEmpty ? nil : parts.joined(separator: " ")
        email = account.email
        sharedEmail =
            account.email.map { account.isPrivateEmail ?? false ? .relay($0) : .own($0) } ?? .unknown
    }

    /// The first line: the name, or the address of a user without a name.
    var title: String? { name ?? email }

    /// The second line: the address of a user who has a name.
    var subtitle: String? { name == nil ? nil : email }
}
