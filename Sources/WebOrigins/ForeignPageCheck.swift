// WebOrigins owns the parts of http and https URLs, the names of hosts, and one decision: whether a request
// to a development server may come from an unrelated web page. It does not own HTTP: servers pass the header
// fields of a request, and send a refusal in their own format.

/// Protects a development server, which needs no real authentication, from requests by web pages of other
/// sites.
///
/// Such a server needs no password, or a known password, because only this machine can reach the server. But
/// a page in the developer's browser can reach the server too. There are two attacks:
///
/// - The page lets its own host name resolve to 127.0.0.1 (DNS rebinding). The browser then treats the server
///   as part of the page's site, and the page can read every response. `Host` still contains the page's name,
///   because a page cannot change that field.
/// - The page submits a form, and cannot read the response. A browser names the sender's site in `Origin` in
///   every request that changes something (Fetch §3.2).
///
/// A production server does not need this check: its proxy checks host names, and callers have API keys.
public struct ForeignPageCheck: Sendable {
    private let hosts: AllowedHosts

    public init(hosts: AllowedHosts) {
        self.hosts = hosts
    }

    /// Refuses a request whose `Host` names another server, is absent or occurs twice.
    public func check(host: [String]) throws(ForeignPageRefusal) {
        guard host.count == 1, hosts.allow(host[0]) else { throw .host }
    }

    /// Refuses a request whose `Origin` is another server. Used for requests that change something.
    /// Command-line tools send no `Origin`.
    public func check(origin: [String], host: [String]) throws(ForeignPageRefusal) {
        guard !origin.isEmpty else { return }
        guard origin.count == 1, host.count == 1 else { throw .origin }
        // "null" is the origin of a local file, and of a page that hides its origin. It is refused.
        let same = ["http://", "https://"].map { $0 + host[0].lowercased() }
        guard same.contains(origin[0].lowercased()) else { throw .origin }
    }
}

/// Reason for refusing a request that a web page of another site may have sent.
public enum ForeignPageRefusal: Error, Sendable, CaseIterable {
    /// `Host` is neither a loopback name nor a configured name.
    case host
    /// `Origin` is another server.
    case origin
}
