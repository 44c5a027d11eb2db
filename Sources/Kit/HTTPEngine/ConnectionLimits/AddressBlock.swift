public import NIOCore

/// One IP address, or a network in CIDR notation (RFC 4632 §3.1): `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`.
public struct AddressBlock: Sendable, Equatable {
    private let network: IPAddressBytes
    private let prefixLength: Int

    /// `nil` unless the text is an address or a network.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = try? SocketAddress(ipAddress: String(parts[0]), port: 0),
            let network = IPAddressBytes(address)
        else { return nil }
        let isVersion4 = address.protocol == .inet
        let longest = isVersion4 ? 32 : 128
        var length = longest
        if parts.count == 2 {
            guard let given = Int(parts[1]), (0...longest).contains(given), String(given) == parts[1] else {
                return nil
            }
            length = given
        }
        self.network = network
        prefixLength = isVersion4 ? 96 + length : length
    }

    private init(_ network: IPAddressBytes, _ prefixLength: Int) {
        (self.network, self.prefixLength) = (network, prefixLength)
    }

    /// Returns `true` if the blocks together have all public addresses of IPv4 or of IPv6, so that trusting them
    /// trusts every client. A network of IPv6 can hold the addresses of IPv4, which are mapped into it.
    public static func holdEveryAddress(_ blocks: [AddressBlock]) -> Bool {
        hold(version4, blocks + specialOfVersion4) || hold(version6, blocks)
    }

    private static let version4 = AddressBlock(.firstOfVersion4, 96)
    /// The global unicast addresses (RFC 4291 §2.4).
    private static let version6 = AddressBlock(IPAddressBytes(high: 0x2000 << 48, low: 0), 3)
    /// Networks without hosts of the Internet (RFC 6890; multicast and class E): a list of all others is a list of
    /// everybody.
    private static let specialOfVersion4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.168.0.0/16", "224.0.0.0/3",
    ].compactMap { AddressBlock($0) }

    /// Returns `true` if the blocks together have every address of a network. Only halves in which a block ends
    /// are divided further.
    private static func hold(_ whole: AddressBlock, _ blocks: [AddressBlock]) -> Bool {
        if blocks.contains(where: { $0.holds(whole) }) { return true }
        let inside = blocks.filter { whole.holds($0) }
        guard !inside.isEmpty, whole.prefixLength < 128 else { return false }
        return whole.halves.allSatisfy { hold($0, inside) }
    }

    private func holds(_ other: AddressBlock) -> Bool {
        prefixLength <= other.prefixLength && other.network.hasPrefix(prefixLength, of: network)
    }

    private var halves: [AddressBlock] {
        [false, true].map { AddressBlock(network.setting(bit: prefixLength, to: $0), prefixLength + 1) }
    }

    public func contains(_ address: SocketAddress) -> Bool {
        guard let address = IPAddressBytes(address) else { return false }
        return address.hasPrefix(prefixLength, of: network)
    }
}

extension [AddressBlock] {
    /// Bound in bytes on what is read of `X-Forwarded-For`, from its end. The client may have written any
    /// length before it.
    private static var longestTail: Int { 1024 }

    func contains(_ address: SocketAddress) -> Bool { contains { $0.contains(address) } }

    /// Returns the requester whom named proxies report: the last address in `X-Forwarded-For` that is none of a
    /// named proxy. Each proxy appends the address from which the request came to it, and before the first
    /// address that no named proxy has written the client can write anything.
    ///
    /// - Parameter field: The field of a request from a named proxy.
    /// - Returns: `nil` when the proxies name no address; the farthest proxy when they name only each other.
    func requester(forwardedFor field: String) -> ClientAddress? {
        let tail = field.utf8.suffix(Self.longestTail)
        var entries = tail.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        // The bound has cut the first entry.
        if tail.count < field.utf8.count { entries.removeFirst() }
        var farthest: ClientAddress?
        for entry in entries.reversed() {
            guard let address = Self.address(Substring(entry)) else { return farthest }
            guard contains(address) else { return ClientAddress(address) }
            farthest = ClientAddress(address)
        }
        return farthest
    }

    /// Reads an address with or without a port: `203.0.113.7`, `203.0.113.7:17085`, `2001:db8::7`,
    /// `[2001:db8::7]`, `[2001:db8::7]:443`.
    private static func address(_ entry: Substring) -> SocketAddress? {
        let text = entry.drop { $0 == " " || $0 == "\t" }
        let word = text.prefix { $0 != " " && $0 != "\t" }
        guard text.dropFirst(word.count).allSatisfy({ $0 == " " || $0 == "\t" }) else { return nil }
        var (host, port): (Substring, Substring?) = (word, nil)
        if word.hasPrefix("[") {
            guard let end = word.lastIndex(of: "]") else { return nil }
            host = word[word.index(after: word.startIndex)..<end]
            let rest = word[word.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":"), host.contains(":") else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else if let colon = word.firstIndex(of: ":"), !word[word.index(after: colon)...].contains(":") {
            (host, port) = (word[..<colon], word[word.index(after: colon)...])
            guard host.contains(".") else { return nil }
        }
        if let port {
            guard let number = UInt16(port), String(number) == port else { return nil }
        }
        return try? SocketAddress(ipAddress: String(host), port: 0)
    }
}
