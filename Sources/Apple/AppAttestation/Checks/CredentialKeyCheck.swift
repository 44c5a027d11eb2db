import Encodings
import JOSE

/// Refuses authenticator data with another key than the key of the leaf certificate.
struct CredentialKeyCheck: Sendable {
    let key: ECPublicKey

    func check(_ credential: AttestedCredential) throws(AppAttestationError) {
        guard credential.x.elementsEqual(key.x), credential.y.elementsEqual(key.y) else {
            throw AppAttestationError(
                .credentialKeyMismatch, found: Base64.encode([4] + credential.x + credential.y),
                expected: Base64.encode(key.point))
        }
    }
}
