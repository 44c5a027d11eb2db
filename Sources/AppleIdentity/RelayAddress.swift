/// Decides whether an e-mail address is one of Apple's relay addresses, which hide the real one.
///
/// Apple's claim decides when it is present. Some tokens of 2024 and 2025 have a relay address but no claim:
/// then the domain decides. Any other domain decides nothing, because real addresses come without the claim
/// too.
public enum RelayAddress {
    /// In ASCII lower case. Apple has announced the second one for new addresses.
    private static let domains = ["privaterelay.appleid.com", "private.icloud.com"]

    /// Returns `nil` when neither the claim nor the domain decides.
    ///
    /// - Parameter claim: `is_private_email` as Apple sent it.
    public static func isPrivate(_ claim: Bool?, address: String?) -> Bool? {
        if let claim { return claim }
        guard let address, hasRelayDomain(address) else { return nil }
        return true
    }

    /// Whether the domain is exactly one of Apple's, without regard to the case of ASCII letters.
    private static func hasRelayDomain(_ address: String) -> Bool {
        guard let sign = address.utf8.lastIndex(of: UInt8(ascii: "@")) else { return false }
        let domain = address.utf8[address.utf8.index(after: sign)...]
        return domains.contains { $0.utf8.elementsEqual(domain.lazy.map(lowercased)) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
