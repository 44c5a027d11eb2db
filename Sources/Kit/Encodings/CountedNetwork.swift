/// A network whose requests, failures or connections share one counter.
///
/// All per-address limits use this rule. An IPv4 address counts toward one network. An IPv6 address counts
/// toward three: its /64, which belongs to one machine, and its /56 and /48, either of which can belong to
/// one subscriber. Without these wide networks, a home connection could send from 256 (/56) or 65,536 (/48)
/// networks.
public struct CountedNetwork: Sendable, Hashable {
    /// The IPv4 address in the low bits, or the first 64 bits of the IPv6 network address.
    let prefix: UInt64
    /// Prefix length in bits; 32 for IPv4.
    let length: Int

    /// The limit for this network is the single-address limit times this factor, because several subscribers
    /// can share a wide network.
    public var share: Int {
        switch length {
        case 56: 2
        case 48: 4
        default: 1
        }
    }

    /// Returns the networks that contain an address, narrowest first.
    ///
    /// - Parameter network: The IPv4 address, or the first 64 bits of an IPv6 address.
    public static func all(of network: UInt64, isVersion4: Bool) -> [CountedNetwork] {
        guard !isVersion4 else { return [CountedNetwork(prefix: network, length: 32)] }
        return [64, 56, 48].map { length in
            let rest = UInt64(64 - length)
            return CountedNetwork(prefix: (network >> rest) << rest, length: length)
        }
    }

    /// True for an IPv6 network that can span many /64 networks.
    public var isWide: Bool { length == 56 || length == 48 }

    public func contains(_ network: UInt64, isVersion4: Bool) -> Bool {
        guard isVersion4 == (length == 32) else { return false }
        return isVersion4 ? network == prefix : (network ^ prefix) >> (64 - UInt64(length)) == 0
    }

    /// The network in the usual notation: `203.0.113.7`, `2001:db8:1:2::/64`, `2001:db8:1::/48`.
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
