/// An absolute http or https URL, split into the parts that configuration checks need.
package struct WebAddress: Equatable {
    package let isSecure: Bool
    /// Host without the port. An IPv6 address has no brackets.
    package let host: String
    package let port: UInt16?
    /// Path, either empty or beginning with a slash.
    package let path: String
    package let query: String?

    /// Parses a URL. Returns `nil` if the text contains a user, a fragment, white space or a character that a
    /// URL must escape.
    package init?(_ text: String) {
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix),
            text.utf8.count <= 2048,
            text.utf8.allSatisfy({ (UInt8(ascii: "!")...UInt8(ascii: "~")).contains($0) }),
            !text.contains(where: { "\"<>\\^`{|}#".contains($0) })
        else { return nil }
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard let (host, port) = Self.split(authority) else { return nil }
        let tail = rest.dropFirst(authority.count)
        isSecure = scheme == "https://"
        (self.host, self.port) = (host, port)
        path = String(tail.prefix { $0 != "?" })
        query = tail.firstIndex(of: "?").map { String(tail[tail.index(after: $0)...]) }
    }

    /// The URL with the host in lower case. The other parts are unchanged.
    package var text: String {
        let name = host.contains(":") ? "[\(host)]" : host
        let place = port.map { "\(name):\($0)" } ?? name
        return (isSecure ? "https://" : "http://") + place + path + (query.map { "?\($0)" } ?? "")
    }

    /// True if the host is a loopback name or an IP address. Apple accepts neither for sign-in on the web.
    package var isLocalOrNumeric: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host.contains(":")
            || host.allSatisfy { $0.isNumber || $0 == "." }
    }

    /// True if the host is this machine. Other spellings of a loopback address do not count, because
    /// resolvers treat them differently.
    package var isLoopback: Bool { ["127.0.0.1", "::1", "localhost"].contains(host) }

    private static func split(_ authority: Substring) -> (host: String, port: UInt16?)? {
        var name = authority
        var port: UInt16?
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            guard let number = UInt16(authority[authority.index(after: colon)...]), number > 0 else {
                return nil
            }
            (name, port) = (authority[..<colon], number)
        }
        if name.hasPrefix("["), name.hasSuffix("]") {
            let address = name.dropFirst().dropLast()
            guard !address.isEmpty, address.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else {
                return nil
            }
            return (String(address), port)
        }
        let isName = !name.isEmpty && name.hasOnlyLettersDigits(and: "-._")
        return isName ? (name.lowercased(), port) : nil
    }
}
