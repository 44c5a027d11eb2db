/// The redirect URIs that are safe for the clients of a kind.
public enum RedirectURIRule: Sendable, Hashable {
    /// They follow from the project in Google's console and from App Flip. Only URIs of Google's test tool are
    /// listed, in development.
    case ofGoogle
    /// Listed, for an application with a server: `https`, and in development a loopback address.
    case ofServer
    /// Listed, for an installed app: also custom schemes and loopback addresses, as its platform allows
    /// (RFC 8252, appendix B).
    case ofInstalledApp
}
