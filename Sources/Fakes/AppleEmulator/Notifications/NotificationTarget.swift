public import EmulatorServer

/// A URL that the emulator may post notifications to.
///
/// The URL is recomposed from its checked parts, so that no other parser can find a different host in it.
/// Otherwise callers could make the emulator reach machines that they cannot reach themselves (SSRF).
public struct NotificationTarget: Sendable, Equatable, Codable {
    /// URL with scheme (`http` or `https`), host, port if present, and path.
    public let url: String
    public let host: String

    /// Checks a URL. Throws `.notificationURLRefused` unless the text is an http or https URL whose host is
    /// loopback or allowed.
    public init(_ text: String, allowedHosts: Set<String> = []) throws(EmulatorError) {
        self = try Self.parse(text)
        guard Self.isLoopback(host) || allowedHosts.contains(host) else {
            throw EmulatorError(
                .notificationURLRefused, detail: "the host must be a loopback or allowed host")
        }
    }

    /// Returns a URL from the configuration, which may name any host.
    static func trusted(_ text: String) throws(EmulatorError) -> NotificationTarget { try parse(text) }

    private init(url: String, host: String) { (self.url, self.host) = (url, host) }

    private static func parse(_ text: String) throws(EmulatorError) -> NotificationTarget {
        let refusal = EmulatorError(
            .notificationURLRefused, detail: "must be an http or https URL with a host and a path")
        guard text.utf8.count <= 2048, let scheme = ["http://", "https://"].first(where: text.hasPrefix)
        else {
            throw refusal
        }
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        let path = rest.dropFirst(authority.count)
        let colon =
            authority.hasPrefix("[::1]")
            ? authority.dropFirst(5).firstIndex(of: ":") : authority.firstIndex(of: ":")
        let host = String(authority[..<(colon ?? authority.endIndex)])
        let port = colon.map { authority[authority.index(after: $0)...] }
        guard isHost(host), path.utf8.allSatisfy(isPathCharacter) else { throw refusal }
        if let port {
            guard let number = UInt16(port), number > 0, port == String(number) else { throw refusal }
        }
        return NotificationTarget(
            url: scheme + host + (port.map { ":\($0)" } ?? "") + (path.isEmpty ? "/" : String(path)),
            host: host)
    }

    /// Returns true if the host has only letters, digits, dots and hyphens, so it has no user information, no
    /// percent-encoding, and no unusual form of an address.
    private static func isHost(_ host: String) -> Bool {
        host == "[::1]"
            || (!host.isEmpty && host.utf8.count <= 253
                && host.utf8.allSatisfy { byte in
                    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                        || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
                })
    }

    private static func isPathCharacter(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "#")
    }

    /// Returns true for a loopback host. IPv4 addresses must have four decimal parts, because only some
    /// resolvers accept `127.1` and `0x7f000001`.
    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in UInt8(part).map { String($0) == part } ?? false }
    }
}
