import Certificates
import Encodings

/// Refuses keys of Macs without System Integrity Protection and Full Security, on which an app can be changed
/// while it runs.
///
/// iOS has this extension with other contents since version 26.1. So the check is only for apps of macOS.
struct KeyPolicyCheck: Sendable {
    let platform: AppPlatform

    /// Of Apple's extension with the policy of the key.
    private static let identifier = "1.2.840.113635.100.8.6"
    /// `SEQUENCE { [3] EXPLICIT { OCTET STRING (66 bytes) } }` with the policy that Apple documents.
    private static let value: [UInt8] =
        [0x30, 0x46, 0xA3, 0x44, 0x04, 0x42] + policy

    private static let policy: [UInt8] = [
        0x30, 0x40, 0x0C, 0x02, 0x31, 0x31, 0x30, 0x3A, 0x30, 0x09, 0x0C, 0x02, 0x6F, 0x6B, 0xA1, 0x03, 0x01,
        0x01, 0xFF, 0x30, 0x09, 0x0C, 0x02, 0x6F, 0x61, 0xA1, 0x03, 0x01, 0x01, 0xFF, 0x30, 0x0B, 0x0C, 0x04,
        0x6F, 0x64, 0x65, 0x6C, 0xA1, 0x03, 0x01, 0x01, 0xFF, 0x30, 0x15, 0x0C, 0x04, 0x6F, 0x73, 0x67, 0x6E,
        0xA0, 0x06, 0x0C, 0x04, 0x72, 0x73, 0x65, 0x63, 0x30, 0x05, 0xA6, 0x03, 0x02, 0x01, 0x01,
    ]

    func check(_ certificates: borrowing AttestationCertificates) throws(AppAttestationError) {
        switch platform {
        case .iOS: return
        case .macOS:
            let values = certificates.leaf.extensionValues(Self.identifier)
            guard values.count == 1 else {
                throw AppAttestationError(
                    .keyPolicyMissing, found: "\(values.count) extensions",
                    expected: "one extension with a key policy")
            }
            guard values[0] == Self.value else {
                throw AppAttestationError(
                    .keyPolicyMismatch, found: Hexadecimal.encode(values[0]),
                    expected: "\(Hexadecimal.encode(Self.value)), the policy of a protected Mac")
            }
        }
    }
}
