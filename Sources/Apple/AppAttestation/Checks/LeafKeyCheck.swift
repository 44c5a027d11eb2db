import Certificates
import JOSE

/// Refuses a leaf certificate whose key is not on P-256, the only curve of App Attest.
struct LeafKeyCheck: Sendable {
    /// Returns the attested key.
    func key(of certificates: borrowing AttestationCertificates) throws(AppAttestationError) -> ECPublicKey {
        do throws(JOSEError) {
            return try certificates.leaf.ecPublicKey()
        } catch {
            throw AppAttestationError(
                .certificateKeyUnusable, found: error.detail, expected: "a key on P-256")
        }
    }
}
