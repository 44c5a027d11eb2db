import Certificates
import Encodings
import JOSE

/// Refuses a receipt of another key (field 3, which is the whole leaf certificate of an attestation).
///
/// The keys are compared, not the certificates: a key that is attested twice has two certificates.
struct ReceiptKeyCheck: Sendable {
    let key: ECPublicKey

    func check(_ content: ReceiptContent) throws(ReceiptError) {
        guard let leaf = CertificateHandle(der: content.leaf), let found = try? leaf.ecPublicKey() else {
            throw ReceiptError(
                .keyMismatch, found: "other bytes in field 3", expected: "a certificate with a key on P-256")
        }
        guard found.point == key.point else {
            throw ReceiptError(
                .keyMismatch, found: Base64.encode(found.point), expected: Base64.encode(key.point))
        }
    }
}
