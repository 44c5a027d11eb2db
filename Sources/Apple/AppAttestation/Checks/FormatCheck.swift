/// Refuses an attestation in another format of WebAuthn, such as `apple`, which passkeys use.
struct FormatCheck: Sendable {
    func check(_ attestation: UnverifiedAttestation) throws(AppAttestationError) {
        guard attestation.format.utf8.elementsEqual(UnverifiedAttestation.format.utf8) else {
            throw AppAttestationError(
                .formatMismatch, found: attestation.format, expected: UnverifiedAttestation.format)
        }
    }
}
