import Certificates
import Cryptography
import Encodings
import JOSE

/// An attestation's certificates, parsed but not verified. Not copyable, because it owns OpenSSL objects.
struct AttestationCertificates: ~Copyable {
    let leaf: CertificateHandle
    let intermediate: IntermediateCertificate

    /// - Parameters:
    ///   - root: The pinned root that the certificates must chain to.
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

/// Refuses certificates that were not issued under the pinned root, or are not valid at this time.
///
/// Only the root is pinned, because Apple's intermediate certificate expires in 2030. Revocation is not
/// checked, because Apple's certificates name neither a revocation list nor a responder.
struct CertificateChainCheck: Sendable {
    let root: TrustAnchor

    /// - Parameter now: Seconds since 1970.
    func check(
        _ certificates: borrowing AttestationCertificates, at now: Int64
    ) throws(AppAttestationError) {
        do throws(CertificateChainError) {
            try root.check(certificates.leaf, through: certificates.intermediate, at: now)
        } catch {
            let validity = certificates.leaf.validity()
            switch error.code {
            case .untrusted:
                throw AppAttestationError(
                    .chainUntrusted, found: error.detail,
                    expected: "a leaf and an intermediate certificate under the pinned root")
            case .expired:
                throw AppAttestationError(
                    .certificateExpired, found: "valid until \(Self.text(validity?.end))",
                    expected: "valid at \(Self.text(now))")
            case .notYetValid:
                throw AppAttestationError(
                    .certificateNotYetValid, found: "valid from \(Self.text(validity?.begin))",
                    expected: "valid at \(Self.text(now))")
            }
        }
    }

    private static func text(_ seconds: Int64?) -> String {
        // The text form covers only the years 1970 to 9999.
        guard let seconds, (0...253_402_300_799).contains(seconds) else { return "another time" }
        return RFC3339.text(milliseconds: seconds * 1000)
    }
}

/// Refuses a leaf certificate whose key is not on P-256, the only curve that App Attest uses.
struct LeafKeyCheck: Sendable {
    /// Returns the attested key.
    func key(of certificates: borrowing AttestationCertificates) throws(AppAttestationError) -> ECPublicKey {
        do throws(JOSEError) {
            return try certificates.leaf.ecPublicKey()
        } catch {
            throw AppAttestationError(
                .certificateKeyUnusable, found: error.detail, expected: "a key on P-256")
        }
    }
}

/// Refuses an attestation for another challenge, or with modified authenticator data: Apple signs the hash of
/// both in an extension of the leaf certificate.
struct NonceCheck: Sendable {
    let clientDataHash: ClientDataHash

    /// Object identifier of Apple's nonce extension.
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
        // The comparison covers the whole value, because a search would also find the nonce inside other
        // data.
        guard values[0] == Self.prefix + nonce.bytes else {
            throw AppAttestationError(
                .nonceMismatch, found: Hexadecimal.encode(values[0].dropFirst(Self.prefix.count)),
                expected: Hexadecimal.encode(nonce))
        }
    }
}

/// Refuses keys from Macs without System Integrity Protection and
/// Full Security, because on such Macs an app can be modified while it runs.
///
/// Since version 26.1, iOS sends other content in this extension, so the check is only for macOS apps.
struct KeyPolicyCheck: Sendable {
    let platform: AppPlatform

    /// Object identifier of Apple's key policy extension.
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
