package import Encodings
package import NIOCore

/// The 128 bits of an IP address. An IPv4 address is mapped into IPv6 (RFC 4291 §2.5.5.2), so that a client
/// has the same address on every socket.
struct IPAddressBytes: Equatable, Sendable {
    let high: UInt64
    let low: UInt64

    private static let mappedPrefix: UInt64 = 0xFFFF_0000_0000

    /// `nil` for an address that is not an IP address.
    init?(_ address: SocketAddress) {
        // The address comes after family, length and port, and in IPv6 also after the flow label.
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

    /// 0.0.0.0
    static let firstOfVersion4 = IPAddressBytes(high: 0, low: mappedPrefix)

    init(high: UInt64, low: UInt64) {
        (self.high, self.low) = (high, low)
    }

    /// Returns the address with a bit, counted from the highest, set or cleared.
    func setting(bit: Int, to isSet: Bool) -> IPAddressBytes {
        let mask: UInt64 = 1 << UInt64(63 - bit % 64)
        func set(_ word: UInt64) -> UInt64 { isSet ? word | mask : word & ~mask }
        return bit < 64
            ? IPAddressBytes(high: set(high), low: low) : IPAddressBytes(high: high, low: set(low))
    }

    var isVersion4: Bool { high == 0 && low >> 32 == Self.mappedPrefix >> 32 }

    /// Returns `true` if the first `length` bits equal the first `length` bits of the other address.
    func hasPrefix(_ length: Int, of other: IPAddressBytes) -> Bool {
        let (highMask, lowMask) = (Self.mask(length), Self.mask(length - 64))
        return high & highMask == other.high & highMask && low & lowMask == other.low & lowMask
    }

    private static func mask(_ length: Int) -> UInt64 {
        length <= 0 ? 0 : length >= 64 ? .max : ~(UInt64.max >> UInt64(length))
    }
}

/// Identifies a client by its address: an IPv4 address, or the /64 network of an IPv6 address, because one
/// machine usually has a whole /64.
package struct ClientAddress: Hashable, Sendable {
    /// The address, or the first 64 bits of an IPv6 address.
    package let network: UInt64
    package let isVersion4: Bool

    /// `nil` for an address that is not an IP address.
    package init?(_ address: SocketAddress) {
        guard let bytes = IPAddressBytes(address) else { return nil }
        isVersion4 = bytes.isVersion4
        network = isVersion4 ? bytes.low & 0xFFFF_FFFF : bytes.high
    }

    /// The networks in which the client is counted, the narrowest first.
    package var networks: [CountedNetwork] { CountedNetwork.all(of: network, isVersion4: isVersion4) }

    package func isIn(_ counted: CountedNetwork) -> Bool {
        counted.contains(network, isVersion4: isVersion4)
    }

    /// True for an address that no client in the Internet has: private (RFC 1918, RFC 4193), shared (RFC 6598),
    /// link-local and loopback.
    package var isPrivate: Bool {
        // The number of bits after the prefix, and the prefix. ::1 is the only address in use that begins with
        // 64 zero bits.
        let prefixes: [(rest: UInt64, bits: UInt64)] =
            isVersion4
            ? [(24, 10), (24, 127), (20, 0xAC1), (16, 0xC0A8), (16, 0xA9FE), (22, 0x191)]
            : [(0, 0), (57, 0x7E), (54, 0x3FA)]
        return prefixes.contains { network >> $0.rest == $0.bits }
    }
}
