public import AppleAccounts

/// An App Flip call that passed every check except the check of the identity, which is next.
public struct AppFlipRequest: Sendable {
    public let link: AppFlipLink
    /// Scopes that the user has granted. Never empty.
    public let scopes: ScopeSet
    public let identity: Identity

    /// The user's identity, as the app's backend states it.
    public enum Identity: Sendable, Confidential {
        /// An identity token: a sign-in like every other.
        case identityToken(String, nonce: String?)
        /// - Parameter authenticatedAt: `nil` when the backend does not state it. An unknown time is too old
        ///   for a client with `max_authentication_age`.
        case account(String, authenticatedAt: Moment?)
    }
}
