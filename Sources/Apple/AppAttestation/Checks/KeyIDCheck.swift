import JOSE

/// Refuses an attestation of another key than the key whose ID the app sent.
struct KeyIDCheck: Sendable {
    let keyID: AttestedKeyID

    func check(_ key: ECPublicKey) throws(AppAttestationError) {
        let attested = AttestedKeyID(ofKey: key.point)
        guard attested == keyID else {
            throw AppAttestationError(.keyIDMismatch, found: attested.base64, expected: keyID.base64)
        }
    }
}
