import HTTPEngine
import NIOCore

/// Decides to which addresses a receiver's name may lead, so that a name cannot lead into the network behind
/// the service (server-side request forgery).
struct DestinationAddresses: Sendable {
    /// Private networks that the operator allows for this receiver.
    let allowed: [AddressBlock]

    /// Every network that is not on the public internet (IANA's registries of special-purpose addresses), and
    /// networks whose addresses stand for addresses of IPv4.
    static let special: [AddressBlock] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32",
        "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
    ].compactMap { AddressBlock($0) }

    /// - Parameter text: An address without brackets and port. A text that is no address is not allowed.
    func allow(_ text: String) -> Bool {
        guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return false }
        return allowed.contains { $0.contains(address) } || !Self.special.contains { $0.contains(address) }
    }
}
