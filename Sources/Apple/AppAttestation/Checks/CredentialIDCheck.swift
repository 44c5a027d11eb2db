import Encodings

/// Refuses authenticator data that names another key than the key whose ID the app sent.
struct CredentialIDCheck: Sendable {
    let keyID: AttestedKeyID

    func check(_ credential: AttestedCredential) throws(AppAttestationError) {
        guard credential.credentialID.elementsEqual(keyID.digest) else {
            throw AppAttestationError(
                .credentialIDMismatch, found: Base64.encode(credential.credentialID), expected: keyID.base64)
        }
    }
}
