/// How a Google account leads to an account of ours. The account can change after it was found, so the
/// transaction checks the match again.
public enum GoogleAccountMatch: Sendable, Hashable {
    /// A line of the client came with this Google account.
    case link
    /// This Google account made the account.
    case origin
    /// The account has this address, and Google answers for it.
    case email(String)
}
