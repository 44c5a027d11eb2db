public import AppleAccounts
public import AppleIdentity

/// What a token says, and the app that it was minted for.
public struct VerifiedSignIn: Sendable {
    public let identity: VerifiedIdentity
    public let app: App
}
