import NIOCore

/// What counts as one client by its address: an IPv4 address, or the /64 network of an IPv6 address, of which one
/// subscriber commonly has all.
struct ClientAddress: Hashable, Sendable {
    private let network: UInt64
    private let isVersion4: Bool

    /// `nil` for what has no IP address.
    init?(_ address: SocketAddress) {
        guard let bytes = IPAddressBytes(address) else { return nil }
        isVersion4 = bytes.isVersion4
        network = isVersion4 ? bytes.low & 0xFFFF_FFFF : bytes.high
    }
}
