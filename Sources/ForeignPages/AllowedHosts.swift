/// The names under which a server for development is called: loopback's, and those that were configured.
public struct AllowedHosts: Sendable, Equatable {
    private let names: Set<String>

    /// - Parameter names: As in a URL, without a port; an IPv6 address with or without brackets. A wildcard address, which
    ///   is for listening only, and what is no name allow nothing.
    public init(_ names: some Sequence<String> = []) {
        self.names = Set(names.compactMap { Self.name($0) }).subtracting(["0.0.0.0", "[::]"])
    }

    /// Whether the content of a `Host` field means this server. The port does not matter, because a forwarded one differs.
    public func allow(_ host: String) -> Bool {
        guard let name = Self.name(ofHostField: host) else { return false }
        return Self.isLoopback(name) || names.contains(name)
    }

    /// Whether the text is a name or an address that `init` takes.
    public static func isName(_ text: String) -> Bool { name(text) != nil }

    /// In lower case, with the brackets of an IPv6 address.
    private static func name(_ text: String) -> String? {
        // Other letters can become these ones in lower case (U+212A).
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
        // An IPv6 address without brackets has no port, and does not belong into this field.
        return host.contains(":") && !host.hasPrefix("[") ? nil : name(host)
    }

    /// `127.1` is loopback to some resolvers only, so just the four decimal parts count.
    private static func isLoopback(_ name: String) -> Bool {
        if name == "localhost" || name == "[::1]" { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in UInt8(part).map { String($0) == part } ?? false }
    }
}
