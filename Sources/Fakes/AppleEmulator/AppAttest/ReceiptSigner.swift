import Cryptography
import EmulatorServer
import Encodings

/// Signs receipts as CMS (RFC 5652), in Apple's encodings.
struct ReceiptSigner: Sendable {
    private let authority: CertificateAuthority
    private let key: KeyPair
    private let certificate: IssuedCertificate

    /// Creates the signer's certificate. Throws `.attestationUnsignable` if OpenSSL fails.
    init(under root: (name: CertificateName, key: KeyPair)) throws(EmulatorError) {
        authority = try CertificateAuthority("Fake Application Integration CA 5 - G1", under: root)
        key = try .generate()
        certificate = try authority.issue(
            to: key.publicKey, "Fake Application Attestation Fraud Receipt Signing",
            validity: CertificateAuthority.validity)
    }

    /// Signs a receipt. Throws `.attestationUnsignable` if OpenSSL fails.
    ///
    /// - Parameters:
    ///   - isDefinite: False for indefinite lengths and content in 1000-byte parts, as in attestation
    ///     receipts; true for DER.
    ///   - isTampered: True to corrupt the signature.
    func sign(
        _ content: [UInt8], isDefinite: Bool, isTampered: Bool = false
    ) throws(EmulatorError) -> [UInt8] {
        var signature = try key.sign(content)
        if isTampered { signature[signature.count - 1] ^= 1 }
        let digest = DERItem.sequence([.objectIdentifier("2.16.840.1.101.3.4.2.1"), .null])
        let information = DERItem.sequence([
            .integer(1), .sequence([certificate.issuer.item, .integer(certificate.serialNumber)]), digest,
            .sequence([.objectIdentifier(IssuedCertificate.signatureAlgorithm)]), .octetString(signature),
        ])
        let head = DERItem.integer(1).bytes + DERItem.set([digest]).bytes
        let certificates = certificate.der + authority.certificate.der
        let signers = DERItem.set([information]).bytes
        let data = DERItem.objectIdentifier("1.2.840.113549.1.7.1").bytes
        let type = DERItem.objectIdentifier("1.2.840.113549.1.7.2").bytes
        guard !isDefinite else {
            let encapsulated = DERItem.sequence([
                .encoded(data), .tagged(0, [.octetString(content)]),
            ])
            let signed =
                head + encapsulated.bytes + DERItem.item(0xA0, certificates) + signers
            return DERItem.sequence([.encoded(type), .tagged(0, [.sequence([.encoded(signed)])])]).bytes
        }
        let parts = stride(from: 0, to: content.count, by: 1000).flatMap { start in
            DERItem.octetString(Array(content[start..<min(start + 1000, content.count)])).bytes
        }
        let encapsulated = Self.open(0x30, data + Self.open(0xA0, Self.open(0x24, parts)))
        let signed = head + encapsulated + Self.open(0xA0, certificates) + signers
        return Self.open(0x30, type + Self.open(0xA0, Self.open(0x30, signed)))
    }

    /// Returns an item with indefinite length (X.690 §8.1.3.6).
    private static func open(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag, 0x80] + content + [0, 0]
    }
}

/// The fields of a receipt.
struct ReceiptFields {
    let appID: String
    let leaf: [UInt8]
    let clientDataHash: [UInt8]
    let environment: AttestEnvironment
    /// Creation time in milliseconds since 1970.
    let createdAt: Int64
    /// The values that only a refreshed receipt has; `nil` for an attestation's receipt.
    var refresh: (metric: Int, notBefore: Int64)?

    /// Receipt lifetime: 90 days in milliseconds.
    static let lifetime: Int64 = 90 * 86_400_000

    /// Receipt content: `SET OF SEQUENCE { type, version, value }`, in Apple's order.
    var content: [UInt8] {
        // For a refreshed receipt, Apple converts the hash to UTF-8, which corrupts it.
        let ruined = Array(String(decoding: clientDataHash, as: UTF8.self).utf8)
        var fields: [(type: Int, value: [UInt8])] = [
            (2, Array(appID.utf8)), (3, leaf), (4, refresh == nil ? clientDataHash : ruined),
            (5, Array(Base64.encode(SecureRandom.bytes(count: 64)).utf8)),
            (6, Array((refresh == nil ? "ATTEST" : "RECEIPT").utf8)),
            (7, Array((environment == .production ? "production" : "sandbox").utf8)),
            (12, Self.time(createdAt)),
        ]
        if let refresh {
            fields.append((17, Array(String(refresh.metric).utf8)))
            fields.append((19, Self.time(refresh.notBefore)))
        }
        fields.append((21, Self.time(createdAt + Self.lifetime)))
        return DERItem.set(
            fields.map { .sequence([.integer($0.type), .integer(1), .octetString($0.value)]) }
        ).bytes
    }

    /// Returns a time with 1 to 3 decimal places, as in Apple's receipts.
    private static func time(_ milliseconds: Int64) -> [UInt8] {
        var text = RFC3339.text(milliseconds: milliseconds).dropLast()
        while text.hasSuffix("0"), !text.hasSuffix(".0") { text = text.dropLast() }
        return Array("\(text)Z".utf8)
    }
}
