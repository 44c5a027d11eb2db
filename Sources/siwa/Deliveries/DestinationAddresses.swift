import HTTPEngine
import NIOCore

/// Decides to which addresses a receiver's name may lead, so that a name cannot lead into the network behind
/// the service (server-side request forgery).
struct DestinationAddresses: Sendable {
    /// Private networks that the operator allows for this receiver.
    let allowed: [AddressBlock]

    /// The networks of which parts are on the public internet. Of IPv6 no more is assigned (IANA's registry of
    /// global unicast addresses). Addresses of IPv4 that are mapped into IPv6 count as those of IPv4.
    private static let assigned: [AddressBlock] = ["0.0.0.0/0", "2000::/3"].compactMap { AddressBlock($0) }

    /// Every network of `assigned` that is not on the public internet, or serves a purpose of its own there
    /// (IANA's registries of special-purpose addresses), and networks whose addresses stand for addresses of
    /// IPv4.
    static let special: [AddressBlock] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
        "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48",
        "3fff::/20",
    ].compactMap { AddressBlock($0) }

    /// - Parameter text: An address without brackets and port. A text that is no address is not allowed.
    func allow(_ text: String) -> Bool {
        guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return false }
        let isPublic =
            Self.assigned.contains { $0.contains(address) } && !Self.special.contains { $0.contains(address) }
        return isPublic || allowed.contains { $0.contains(address) }
    }
}
