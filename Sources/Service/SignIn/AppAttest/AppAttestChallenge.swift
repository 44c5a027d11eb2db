public import AppleAccounts

/// A challenge for one attestation or one assertion. The app hashes its text, byte for byte in UTF-8.
public struct AppAttestChallenge: Sendable, Hashable {
    /// Distinguishes challenges from nonces.
    public static let prefix = "siwa-challenge-"
    /// In milliseconds. Apple asks apps to try an attestation again with the same challenge when its servers
    /// are not available.
    static let lifetime: Int64 = 300_000

    /// A challenge of one purpose is never accepted for the other.
    public enum Purpose: String, Sendable, CaseIterable {
        case attestation, assertion
    }

    public let text: String
    public let expiresAt: Moment
}
