/// An absolute `https` or `http` URL that a browser may be redirected to (RFC 3986): without user information
/// and fragment, and safe in a header field.
struct WebURL {
    let isSecure: Bool
    let hasQuery: Bool

    private static let longest = 2048

    /// Returns `nil` for any other text.
    init?(_ text: String) {
        guard text.utf8.count <= Self.longest, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        let rest: Substring
        if text.hasPrefix("https://") {
            (isSecure, rest) = (true, text.dropFirst(8))
        } else if text.hasPrefix("http://") {
            (isSecure, rest) = (false, text.dropFirst(7))
        } else {
            return nil
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard Self.isAuthority(authority) else { return nil }
        hasQuery = rest.contains("?")
    }

    /// Accepts a host and an optional port. `user@host` would show users another host than the URL's.
    private static func isAuthority(_ authority: Substring) -> Bool {
        guard !authority.contains("@") else { return false }
        var host = authority
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            let port = authority[authority.index(after: colon)...]
            guard let number = UInt16(port), number > 0, port.utf8.allSatisfy({ $0 != UInt8(ascii: "+") })
            else { return false }
            host = authority[..<colon]
        }
        let isLiteral = host.hasPrefix("[") && host.hasSuffix("]") && host.utf8.count > 2
        return isLiteral || (!host.isEmpty && host.utf8.allSatisfy(isHostByte))
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Accepts printable ASCII without the characters that RFC 3986 excludes, and without `#`.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        guard byte > 0x20, byte < 0x7F else { return false }
        return !"\"#<>\\^`{|}".utf8.contains(byte)
    }
}
