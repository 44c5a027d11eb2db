import AppleAccounts

/// A command about a user's account, whose ID differs in each store.
struct UserCommand: Sendable {
    let key: SubjectKey
    let make: @Sendable (Account) -> AccountCommand

    /// The command for one store; `nil` when the user has no account there.
    func command(for store: any AccountStore) async throws -> AccountCommand? {
        try await store.account(key).map { make($0) }
    }
}
