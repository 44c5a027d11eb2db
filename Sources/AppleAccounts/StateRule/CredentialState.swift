/// What Apple's credential of one person for one app is worth, in the words of `getCredentialState`.
public enum CredentialState: String, Sendable, Hashable, CaseIterable {
    /// The person may go on.
    case authorized
    /// The person is to be signed out.
    case revoked
    /// Never seen with this app.
    case notFound
}
