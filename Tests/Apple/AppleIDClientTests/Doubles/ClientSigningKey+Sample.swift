import AppleIDClient
import JOSE

extension ClientSigningKey {
    /// A new key. Generating it takes less than a millisecond.
    static func sample(_ keyID: String = "K1L2M3N4O5") throws -> ClientSigningKey {
        try ClientSigningKey(keyID: keyID, pem: ECPrivateKey.generate().pem)
    }
}
