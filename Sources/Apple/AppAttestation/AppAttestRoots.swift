public import Certificates

/// The roots under which App Attest is trusted: attestations and receipts have different roots.
public struct AppAttestRoots: Sendable {
    public let attestation: TrustAnchor
    public let receipt: TrustAnchor

    public init(attestation: TrustAnchor, receipt: TrustAnchor) {
        (self.attestation, self.receipt) = (attestation, receipt)
    }

    public static let apple = AppAttestRoots(attestation: .appleAppAttestation, receipt: .appleRootG3)

    /// The roots of the fake Apple. Their private keys are public: a service must trust them only in
    /// development, and only with `APPLE_BASE_URL`.
    public static let emulator = AppAttestRoots(
        attestation: .emulatedAppAttestation, receipt: .emulatedRootG3)
}
