import Certificates
import Encodings
import JOSE

/// The certificates of an attestation, read but not verified. Not copyable, because it owns OpenSSL's
/// objects.
struct AttestationCertificates: ~Copyable {
    let leaf: CertificateHandle
    let intermediate: IntermediateCertificate

    /// - Parameters:
    ///   - root: The root that the certificates must lead to.
    ///   - now: Seconds since 1970.
    init(
        _ attestation: UnverifiedAttestation, under root: TrustAnchor, at now: Int64
    ) throws(AppAttestationError) {
        guard let leaf = CertificateHandle(der: attestation.leaf),
            let intermediate = root.intermediate(der: attestation.intermediate, at: now)
        else {
            throw AppAttestationError(
                .certificateMalformed, found: "other bytes in x5c",
                expected: "two entries, each one certificate in DER")
        }
        self.leaf = leaf
        self.intermediate = intermediate
    }
}
