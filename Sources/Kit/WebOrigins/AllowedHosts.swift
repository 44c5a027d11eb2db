/// The host names of a development server: loopback names and configured names.
public struct AllowedHosts: Sendable, Equatable {
    private let names: Set<String>

    /// - Parameter names: Names as in a URL, without a port; an IPv6 address with or without brackets.
    ///   Invalid names are ignored, and wildcard addresses, which are only for listening.
    public init(_ names: some Sequence<String> = []) {
        self.names = Set(names.compactMap { Self.name($0) }).subtracting(["0.0.0.0", "[::]"])
    }

    /// True if the value of a `Host` field names this server. The port is ignored, because a forwarded port
    /// differs.
    public func allow(_ host: String) -> Bool {
        // 300 bytes are enough for any name with a port. The field can be as long as a whole header.
        guard host.utf8.count <= 300, let name = Self.name(ofHostField: host) else { return false }
        return Self.isLoopback(name) || names.contains(name)
    }

    /// True if `init` accepts the text as a name or an address.
    public static func isName(_ text: String) -> Bool { name(text) != nil }

    /// Returns the name in lower case, an IPv6 address with brackets.
    private static func name(_ text: String) -> String? {
        // Some letters outside ASCII become ASCII letters in lower case (for example U+212A).
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
        // An IPv6 address without brackets is not allowed in this field.
        return host.contains(":") && !host.hasPrefix("[") ? nil : name(host)
    }

    /// True for a loopback name. Of IPv4 addresses only the form with four decimal parts counts, because only
    /// some resolvers accept `127.1`. No one can own a name below `localhost` (RFC 6761 §6.3).
    private static func isLoopback(_ name: String) -> Bool {
        if name == "localhost" || name == "[::1]" { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        if parts.last == "localhost" { return !parts.contains("") }
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in UInt8(part).map { String($0) == part } ?? false }
    }
}
