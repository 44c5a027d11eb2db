// This target owns one decision: whether a request to a server for development may come from a web page that has nothing
// to do with it. It owns no HTTP: servers hand in the fields of a request, and answer the refusal in their own form.

/// Keeps pages of other sites away from a server that runs on a developer's machine and lets in nearly anything else.
///
/// Such a server needs no password or a known one, because only this machine reaches it. But a page in the developer's
/// browser is on this machine as well. It has two ways:
///
/// - It makes its own name lead to 127.0.0.1 (DNS rebinding). The browser then takes the server for a part of the page's
///   site, and lets the page read every answer. The name stays in `Host`, which no page can change.
/// - It sends a form, and cannot read the answer. A browser says in `Origin` where every request that changes something
///   comes from (Fetch §3.2).
///
/// It is not for a server in production: behind proxies the names are theirs to check, and callers bring keys.
public struct ForeignPageCheck: Sendable {
    private let hosts: AllowedHosts

    public init(hosts: AllowedHosts) {
        self.hosts = hosts
    }

    /// Refuses a request that names another server. A request without the field, or with two, names none.
    public func check(host: [String]) throws(ForeignPageRefusal) {
        guard host.count == 1, hosts.allow(host[0]) else { throw .host }
    }

    /// Refuses a request that changes something and comes from a page of another server. Tools send no `Origin`.
    public func check(origin: [String], host: [String]) throws(ForeignPageRefusal) {
        guard !origin.isEmpty else { return }
        guard origin.count == 1, host.count == 1 else { throw .origin }
        // "null" is the origin of a file, and of a page that hides where it comes from.
        let same = ["http://", "https://"].map { $0 + host[0].lowercased() }
        guard same.contains(origin[0].lowercased()) else { throw .origin }
    }
}
