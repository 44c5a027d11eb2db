/// Decides if an e-mail address is one of Apple's relay addresses, which hide the real address.
///
/// Apple's claim decides when it is present. Some tokens of 2024 and 2025 have a relay address but no claim:
/// then the domain decides. Any other domain decides nothing, because real addresses also come without the
/// claim.
public enum RelayAddress {
    /// Domains in ASCII lower case. Apple has announced the second domain for new addresses.
    private static let domains = ["privaterelay.appleid.com", "private.icloud.com"]

    /// Returns `nil` when neither the claim nor the domain decides.
    ///
    /// - Parameter claim: `is_private_email` as Apple sent it.
    public static func isPrivate(_ claim: Bool?, address: String?) -> Bool? {
        if let claim { return claim }
        guard let address, hasRelayDomain(address) else { return nil }
        return true
    }

    /// Returns true if the domain is exactly one of Apple's, ignoring the case of ASCII letters.
    private static func hasRelayDomain(_ address: String) -> Bool {
        guard let sign = address.utf8.lastIndex(of: UInt8(ascii: "@")) else { return false }
        let domain = address.utf8[address.utf8.index(after: sign)...]
        return domains.contains { $0.utf8.elementsEqual(domain.lazy.map(lowercased)) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
