/// A network whose requests, failures or connections are counted together.
///
/// One rule for everything that is bounded by address. An IPv4 address is one network. An IPv6 address is in
/// three: its /64, which one machine has, and the /56 and the /48, of which a subscriber has one. Without the
/// wide networks a home line could send from 256 or 65,536 addresses.
public struct CountedNetwork: Sendable, Hashable {
    /// The address of IPv4 in the low bits, or the first 64 bits of the network of IPv6.
    let prefix: UInt64
    /// Number of bits of the network; 32 for IPv4.
    let length: Int

    /// Multiple of the bound of one address: some subscribers share a wide network.
    public var share: Int {
        switch length {
        case 56: 2
        case 48: 4
        default: 1
        }
    }

    /// Returns the networks of an address, the narrowest first.
    ///
    /// - Parameter network: The address of IPv4, or the first 64 bits of an address of IPv6.
    public static func all(of network: UInt64, isVersion4: Bool) -> [CountedNetwork] {
        guard !isVersion4 else { return [CountedNetwork(prefix: network, length: 32)] }
        return [64, 56, 48].map { length in
            let rest = UInt64(64 - length)
            return CountedNetwork(prefix: (network >> rest) << rest, length: length)
        }
    }

    /// True for a network of IPv6 that has many networks of single machines.
    public var isWide: Bool { length == 56 || length == 48 }

    public func contains(_ network: UInt64, isVersion4: Bool) -> Bool {
        guard isVersion4 == (length == 32) else { return false }
        return isVersion4 ? network == prefix : (network ^ prefix) >> (64 - UInt64(length)) == 0
    }

    /// The network as users know it: `203.0.113.7`, `2001:db8:1:2::/64`, `2001:db8:1::/48`.
    public var text: String {
        if length == 32 {
            return stride(from: 24, through: 0, by: -8).map { "\(prefix >> UInt64($0) & 0xFF)" }
                .joined(separator: ".")
        }
        let groups = stride(from: 48, through: 0, by: -16).map {
            String(prefix >> UInt64($0) & 0xFFFF, radix: 16)
        }
        return groups.prefix((length + 15) / 16).joined(separator: ":") + "::/\(length)"
    }
}
