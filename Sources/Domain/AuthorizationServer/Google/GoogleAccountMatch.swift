/// The relation of a Google account to an account of ours. The account can change after it was found, so the
/// transaction checks the match again.
public enum GoogleAccountMatch: Sendable, Hashable {
    /// A token family of the client is linked with this Google account.
    case link
    /// This Google account made the account.
    case origin
    /// The account has this address, and Google vouches for it.
    case email(String)
}
