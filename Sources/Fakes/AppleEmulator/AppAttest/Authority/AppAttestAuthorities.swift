import EmulatorServer

/// The authorities that sign attestations and receipts, and authorities under roots that no service trusts.
struct AppAttestAuthorities: Sendable {
    let attestation: CertificateAuthority
    let receipts: ReceiptSigner
    /// Has the same names as `attestation`, and another root.
    let foreignAttestation: CertificateAuthority
    let foreignReceipts: ReceiptSigner

    /// Throws `.attestationUnsignable`.
    init() throws(EmulatorError) {
        let stranger = try KeyPair.generate()
        let (attestation, receipts) = (FakeRoot.attestation, FakeRoot.receipts)
        self.attestation = try CertificateAuthority(
            "Fake App Attestation CA 1", under: (attestation.name, attestation.keyPair()))
        foreignAttestation = try CertificateAuthority(
            "Fake App Attestation CA 1", under: (attestation.name, stranger))
        self.receipts = try ReceiptSigner(under: (receipts.name, receipts.keyPair()))
        foreignReceipts = try ReceiptSigner(under: (receipts.name, stranger))
    }
}
