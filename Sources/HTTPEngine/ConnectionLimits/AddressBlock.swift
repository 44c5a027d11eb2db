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

    /// True if the block has all addresses of IPv4 or of IPv6, so that trusting it trusts every client. A
    /// network of IPv6 can hold the addresses of IPv4, which are mapped into it.
    public var holdsEveryAddress: Bool {
        prefixLength == 0
            || (prefixLength <= 96
                && IPAddressBytes.firstOfVersion4.hasPrefix(prefixLength, of: network))
    }

    public func contains(_ address: SocketAddress) -> Bool {
        guard let address = IPAddressBytes(address) else { return false }
        return address.hasPrefix(prefixLength, of: network)
    }
}
