import Cryptography
import Encodings
import JOSE

/// Refuses an assertion that another key signed, or that is for other client data.
///
/// The message that devices sign is the nonce, which is a hash already: the signature is over the hash of a
/// hash. Signatures with a large s are valid: devices make them.
struct AssertionSignatureCheck: Sendable {
    let key: ECPublicKey
    let clientDataHash: ClientDataHash

    func check(_ assertion: UnverifiedAssertion) throws(AppAttestationError) {
        let nonce = clientDataHash.nonce(after: assertion.authenticatorData)
        guard key.isValidDERSignature(Array(assertion.signature), for: nonce.bytes[...]) else {
            throw AppAttestationError(
                .signatureInvalid, found: "a signature that is not by this key, or not of this client data",
                expected: "a signature by the key \(Base64.encode(key.point)) of \(Hexadecimal.encode(nonce))"
            )
        }
    }
}
