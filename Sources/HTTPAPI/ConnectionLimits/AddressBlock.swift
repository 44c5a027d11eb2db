import NIOCore

/// One IP address, or a network in CIDR notation (RFC 4632 §3.1): `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`.
public struct AddressBlock: Sendable, Equatable {
    private let network: IPAddressBytes
    private let prefixLength: Int

    /// `nil` for anything else.
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

    func contains(_ address: SocketAddress) -> Bool {
        guard let address = IPAddressBytes(address) else { return false }
        return address.hasPrefix(prefixLength, of: network)
    }
}
