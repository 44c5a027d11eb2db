/// Protects a development server, which has no real authentication, from requests by other sites' web pages.
///
/// Such a server needs no password, or only a well-known password, because only programs on this machine can
/// reach it. But a page in the developer's browser can reach it too, in two kinds of attack:
///
/// - A page makes its own host name resolve to 127.0.0.1 (DNS rebinding). The browser then treats the server
///   as part of the page's site, so the page can read every response. But `Host` still contains the page's
///   host name, because a page cannot change that header.
/// - A page submits a form without being able to read the response. For every state-changing request, the
///   browser names the sender's site in `Origin` (Fetch §3.2).
///
/// Production servers do not need this check: their proxy checks host names, and their callers have API keys.
public struct ForeignPageCheck: Sendable {
    private let hosts: AllowedHosts

    public init(hosts: AllowedHosts) {
        self.hosts = hosts
    }

    /// Refuses a request whose `Host` header is missing, repeated or names another server.
    public func check(host: [String]) throws(ForeignPageRefusal) {
        guard host.count == 1, hosts.allow(host[0]) else { throw .host }
    }

    /// Refuses a request from another server's page. Servers call it for state-changing requests.
    public func check(_ sender: RequestSender) throws(ForeignPageRefusal) {
        guard !sender.isForeign() else { throw .origin }
    }
}

/// The headers in which a browser names the sender of a request: `Origin` (Fetch §3.2) and `Sec-Fetch-Site`
/// (Fetch Metadata §2.3). Every server of this project checks form submissions with these headers.
///
/// Programs and old browsers send neither header, so this check does not replace a form token.
public struct RequestSender: Sendable {
    private let origin: [String]
    private let site: [String]
    private let host: [String]

    /// - Parameters:
    ///   - origin: The values of `Origin`.
    ///   - site: The values of `Sec-Fetch-Site`.
    ///   - host: The values of `Host`.
    public init(origin: [String], site: [String], host: [String]) {
        (self.origin, self.site, self.host) = (origin, site, host)
    }

    /// Returns true if the browser names a sender other than the user or one of this server's pages, or if
    /// the headers contradict each other.
    ///
    /// - Parameters:
    ///   - origins: Further origins of this server besides the origin in `Host`, which a proxy may have
    ///     changed.
    ///   - pagesHideOrigin: True if this server's pages send no referrer. Browsers then send `Origin: null`
    ///     with their forms, as they also do for local files and other pages without a referrer.
    public func isForeign(to origins: [String] = [], pagesHideOrigin: Bool = false) -> Bool {
        // A page cannot cause "none": it means that the user typed the address or reloaded the page.
        guard site.allSatisfy({ $0 == "same-origin" || $0 == "none" }), origin.count <= 1, host.count <= 1
        else { return true }
        guard let origin = origin.first else { return false }
        if origin == "null" { return !pagesHideOrigin }
        let own = origins + host.flatMap { ["http://\($0)", "https://\($0)"] }
        return !own.contains { $0.lowercased() == origin.lowercased() }
    }
}

/// Reason to refuse a request that another site's page may have sent.
public enum ForeignPageRefusal: Error, Sendable, CaseIterable {
    /// `Host` is neither a loopback name nor a configured name.
    case host
    /// `Origin` names another server.
    case origin
}

/// A development server's host names: loopback names and configured names.
public struct AllowedHosts: Sendable, Equatable {
    private let names: Set<String>

    /// - Parameter names: Names as in a URL, without a port; an IPv6 address may have brackets. The
    ///   initializer ignores invalid names, and also wildcard addresses, because they are only for listening.
    public init(_ names: some Sequence<String> = []) {
        self.names = Set(names.compactMap { Self.name($0) }).subtracting(["0.0.0.0", "[::]"])
    }

    /// Returns true if the value of a `Host` header names this server. It ignores the port, because port
    /// forwarding changes it.
    public func allow(_ host: String) -> Bool {
        // 300 bytes are enough for any name with a port. Without this limit, the value could be as long as
        // the whole header section.
        guard host.utf8.count <= 300, let name = Self.name(ofHostField: host) else { return false }
        return Self.isLoopback(name) || names.contains(name)
    }

    /// Returns true if `init` accepts the text as a name or an address.
    public static func isName(_ text: String) -> Bool { name(text) != nil }

    /// Returns the name in lower case, with brackets around an IPv6 address.
    private static func name(_ text: String) -> String? {
        // Non-ASCII names are refused, because lower-casing turns some non-ASCII letters, such as U+212A,
        // into ASCII letters.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let text = text.lowercased()
        let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
        if colons > 1, !text.hasPrefix("[") { return name("[\(text)]") }
        let isAddress = text.hasPrefix("[") && text.hasSuffix("]")
        let characters = isAddress ? Substring(text.dropFirst().dropLast()) : text[...]
        let isPlain = characters.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."): true
            case UInt8(ascii: ":"): isAddress
            case UInt8(ascii: "a")...UInt8(ascii: "f"): true
            case UInt8(ascii: "g")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"): !isAddress
            default: false
            }
        }
        return isPlain && (1...253).contains(characters.utf8.count) ? text : nil
    }

    private static func name(ofHostField field: String) -> String? {
        guard let colon = field.lastIndex(of: ":"), !field[colon...].contains("]") else { return name(field) }
        let port = field[field.index(after: colon)...]
        guard port.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        let host = String(field[..<colon])
        // A `Host` header must not contain an IPv6 address without brackets.
        return host.contains(":") && !host.hasPrefix("[") ? nil : name(host)
    }

    /// Returns true for a loopback name. An IPv4 address must have four decimal parts, because only some
    /// resolvers accept `127.1`. Nobody can register names below `localhost` (RFC 6761 §6.3).
    private static func isLoopback(_ name: String) -> Bool {
        if name == "localhost" || name == "[::1]" { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        if parts.last == "localhost" { return !parts.contains("") }
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in UInt8(part).map { String($0) == part } ?? false }
    }
}
