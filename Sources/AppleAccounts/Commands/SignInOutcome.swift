/// A sign-in that was taken.
public struct SignInOutcome: Sendable, Hashable {
    public let account: Account
    /// The credential for the app of this sign-in. It is one of the account's.
    public let credential: Credential
    public let isNewAccount: Bool

    public init(account: Account, credential: Credential, isNewAccount: Bool) {
        (self.account, self.credential, self.isNewAccount) = (account, credential, isNewAccount)
    }
}
