import Certificates
import Encodings
import JOSE

/// The certificates of an attestation, read but not verified. Not copyable, because it owns OpenSSL's
/// objects.
struct AttestationCertificates: ~Copyable {
    let leaf: CertificateHandle
    let intermediate: CertificateHandle

    init(_ attestation: UnverifiedAttestation) throws(AppAttestationError) {
        guard let leaf = CertificateHandle(der: attestation.leaf),
            let intermediate = CertificateHandle(der: attestation.intermediate)
        else {
            throw AppAttestationError(
                .certificateMalformed, found: "other bytes in x5c",
                expected: "two entries, each one certificate in DER")
        }
        self.leaf = leaf
        self.intermediate = intermediate
    }
}
