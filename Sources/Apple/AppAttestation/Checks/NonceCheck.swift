import Certificates
import Cryptography
import Encodings

/// Refuses an attestation for another challenge, and changed authenticator data: Apple signs the hash of both
/// in an extension of the leaf certificate.
struct NonceCheck: Sendable {
    let clientDataHash: ClientDataHash

    /// Of Apple's extension with the nonce.
    private static let identifier = "1.2.840.113635.100.8.2"
    /// `SEQUENCE { [1] EXPLICIT { OCTET STRING (32 bytes) } }`, without the 32 bytes.
    private static let prefix: [UInt8] = [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20]

    func check(
        _ certificates: borrowing AttestationCertificates, _ authenticatorData: ArraySlice<UInt8>
    ) throws(AppAttestationError) {
        let nonce = clientDataHash.nonce(after: authenticatorData)
        let values = certificates.leaf.extensionValues(Self.identifier)
        guard values.count == 1 else {
            throw AppAttestationError(
                .nonceMissing, found: "\(values.count) extensions", expected: "one extension with a nonce")
        }
        // The whole value is compared: a search would also find the nonce inside of something else.
        guard values[0] == Self.prefix + nonce.bytes else {
            throw AppAttestationError(
                .nonceMismatch, found: Hexadecimal.encode(values[0].dropFirst(Self.prefix.count)),
                expected: Hexadecimal.encode(nonce))
        }
    }
}
