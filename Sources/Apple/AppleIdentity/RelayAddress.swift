/// Detects Apple's relay addresses, which hide the user's real e-mail address.
///
/// If Apple's claim is present, it decides. Some tokens from 2024 and 2025 have a relay address but no claim,
/// so for those the domain decides. Any other domain proves nothing, because tokens with real addresses may
/// lack the claim too.
public enum RelayAddress {
    /// Relay address domains in ASCII lower case. Apple has announced the second domain for new addresses.
    private static let domains = ["privaterelay.appleid.com", "private.icloud.com"]

    /// Returns true for a relay address, false for a real address, and `nil` if neither the claim nor the
    /// domain decides.
    ///
    /// - Parameter claim: `is_private_email` as Apple sent it.
    public static func isPrivate(_ claim: Bool?, address: String?) -> Bool? {
        if let claim { return claim }
        guard let address, hasRelayDomain(address) else { return nil }
        return true
    }

    /// Returns true if the address's domain is one of Apple's relay domains, ignoring the case of ASCII
    /// letters.
    private static func hasRelayDomain(_ address: String) -> Bool {
        guard let sign = address.utf8.lastIndex(of: UInt8(ascii: "@")) else { return false }
        let domain = address.utf8[address.utf8.index(after: sign)...]
        return domains.contains { $0.utf8.elementsEqual(domain.lazy.map(lowercased)) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
