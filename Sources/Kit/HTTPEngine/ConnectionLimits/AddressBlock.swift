package import Encodings
public import NIOCore

/// One IP address, or a network in CIDR notation (RFC 4632 §3.1): `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`.
public struct AddressBlock: Sendable, Equatable {
    private let network: IPAddressBytes
    private let prefixLength: Int

    /// Parses a string. Returns `nil` unless it is an address or a network.
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

    /// Returns true if the blocks together contain all public IPv4 or IPv6 addresses, so that trusting the
    /// blocks would mean trusting every client. IPv4 addresses are mapped into IPv6, so an IPv6 network can
    /// also contain them.
    public static func holdEveryAddress(_ blocks: [AddressBlock]) -> Bool {
        hold(version4, blocks + specialOfVersion4) || hold(version6, blocks)
    }

    private static let version4 = AddressBlock(.firstOfVersion4, 96)
    /// IPv6 global unicast addresses (RFC 4291 §2.4).
    private static let version6 = AddressBlock(IPAddressBytes(high: 0x2000 << 48, low: 0), 3)
    /// IPv4 networks without Internet hosts (RFC 6890; multicast and class E). A list of all other networks
    /// would therefore contain every client.
    private static let specialOfVersion4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.168.0.0/16", "224.0.0.0/3",
    ].compactMap { AddressBlock($0) }

    /// Returns true if the blocks together contain every address of a network. The search subdivides only the
    /// halves in which a block ends.
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
    /// Number of bytes that the search reads from the end of `X-Forwarded-For`. It is limited, because the
    /// client may have written any number of bytes before them.
    private static var longestTail: Int { 1024 }

    func contains(_ address: SocketAddress) -> Bool { contains { $0.contains(address) } }

    /// Returns the requester that named proxies report: the last address in `X-Forwarded-For` that does not
    /// belong to a named proxy. Each proxy appends the address from which it received the request, so the
    /// client controls everything before the first address that a named proxy wrote.
    ///
    /// - Parameter field: `X-Forwarded-For` header of a request from a named proxy.
    /// - Returns: `nil` if the proxies name no address; the farthest proxy if they name only each other.
    func requester(forwardedFor field: String) -> ClientAddress? {
        let tail = field.utf8.suffix(Self.longestTail)
        var entries = tail.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        // If the header is longer than the tail, its first entry is incomplete.
        if tail.count < field.utf8.count { entries.removeFirst() }
        var farthest: ClientAddress?
        for entry in entries.reversed() {
            guard let address = Self.address(Substring(entry)) else { return farthest }
            guard contains(address) else { return ClientAddress(address) }
            farthest = ClientAddress(address)
        }
        return farthest
    }

    /// Parses an address with or without a port: `203.0.113.7`, `203.0.113.7:17085`, `2001:db8::7`,
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

/// A 128-bit IP address. IPv4 addresses are mapped into IPv6 (RFC 4291 §2.5.5.2), so that a client has the
/// same address on every socket.
struct IPAddressBytes: Equatable, Sendable {
    let high: UInt64
    let low: UInt64

    private static let mappedPrefix: UInt64 = 0xFFFF_0000_0000

    /// Returns `nil` for a socket address without an IP address, such as a Unix socket.
    init?(_ address: SocketAddress) {
        // The address follows the family, the length, the port and, in IPv6, the flow label.
        let words = address.withSockAddr { pointer, size -> (high: UInt64, low: UInt64)? in
            let bytes = UnsafeRawBufferPointer(start: pointer, count: size)
            switch address {
            case .v4:
                let number = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
                return (0, Self.mappedPrefix | UInt64(number))
            case .v6:
                return (
                    UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                    UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
                )
            case .unixDomainSocket: return nil
            }
        }
        guard let words else { return nil }
        (high, low) = words
    }

    /// The address 0.0.0.0, mapped into IPv6.
    static let firstOfVersion4 = IPAddressBytes(high: 0, low: mappedPrefix)

    init(high: UInt64, low: UInt64) {
        (self.high, self.low) = (high, low)
    }

    /// Returns the address with one bit set or cleared. Bit 0 is the highest bit.
    func setting(bit: Int, to isSet: Bool) -> IPAddressBytes {
        let mask: UInt64 = 1 << UInt64(63 - bit % 64)
        func set(_ word: UInt64) -> UInt64 { isSet ? word | mask : word & ~mask }
        return bit < 64
            ? IPAddressBytes(high: set(high), low: low) : IPAddressBytes(high: high, low: set(low))
    }

    var isVersion4: Bool { high == 0 && low >> 32 == Self.mappedPrefix >> 32 }

    /// Returns true if the first `length` bits equal the first `length` bits of the other address.
    func hasPrefix(_ length: Int, of other: IPAddressBytes) -> Bool {
        let (highMask, lowMask) = (Self.mask(length), Self.mask(length - 64))
        return high & highMask == other.high & highMask && low & lowMask == other.low & lowMask
    }

    private static func mask(_ length: Int) -> UInt64 {
        length <= 0 ? 0 : length >= 64 ? .max : ~(UInt64.max >> UInt64(length))
    }
}

/// Identifies a client by its address: an IPv4 address, or an IPv6 /64 network, because one machine usually
/// has a whole /64.
package struct ClientAddress: Hashable, Sendable {
    /// The IPv4 address, or the first 64 bits of an IPv6 address.
    package let network: UInt64
    package let isVersion4: Bool

    /// Returns `nil` for a socket address without an IP address.
    package init?(_ address: SocketAddress) {
        guard let bytes = IPAddressBytes(address) else { return nil }
        isVersion4 = bytes.isVersion4
        network = isVersion4 ? bytes.low & 0xFFFF_FFFF : bytes.high
    }

    /// Networks toward which the client counts, narrowest first.
    package var networks: [CountedNetwork] { CountedNetwork.all(of: network, isVersion4: isVersion4) }

    package func isIn(_ counted: CountedNetwork) -> Bool {
        counted.contains(network, isVersion4: isVersion4)
    }

    /// True for an address that no Internet client has: private (RFC 1918, RFC 4193), shared (RFC 6598),
    /// link-local or loopback.
    package var isPrivate: Bool {
        // Each entry holds the number of bits after the prefix, and the prefix itself. `::1` is the only
        // address in use that begins with 64 zero bits.
        let prefixes: [(rest: UInt64, bits: UInt64)] =
            isVersion4
            ? [(24, 10), (24, 127), (20, 0xAC1), (16, 0xC0A8), (16, 0xA9FE), (22, 0x191)]
            : [(0, 0), (57, 0x7E), (54, 0x3FA)]
        return prefixes.contains { network >> $0.rest == $0.bits }
    }
}
