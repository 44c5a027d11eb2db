import Cryptography
import EmulatorServer
import JOSE

/// A certificate of the fake Apple (RFC 5280 §4.1), for a key on P-256.
struct IssuedCertificate: Sendable {
    let der: [UInt8]
    /// 127 random bits.
    let serialNumber: [UInt8]
    let issuer: CertificateName

    /// Throws `.attestationUnsignable`.
    ///
    /// - Parameters:
    ///   - validity: Seconds since 1970.
    ///   - extensions: Object identifiers in dotted form, and contents in DER.
    init(
        of key: ECPublicKey, name: CertificateName, by issuer: (name: CertificateName, key: KeyPair),
        validity: ClosedRange<Int64>, isAuthority: Bool,
        extensions: [(identifier: String, content: [UInt8])] = []
    ) throws(EmulatorError) {
        var serialNumber = SecureRandom.bytes(count: 16)
        serialNumber[0] &= 0x7F
        let constraints = DERItem.sequence(isAuthority ? [.boolean(true)] : [])
        // Key usage: certificate signatures, or signatures (RFC 5280 §4.2.1.3).
        let usage: [UInt8] = isAuthority ? [0x03, 0x02, 0x02, 0x04] : [0x03, 0x02, 0x07, 0x80]
        let all =
            [
                Self.extension("2.5.29.19", isCritical: true, constraints.bytes),
                Self.extension("2.5.29.15", isCritical: true, usage),
            ] + extensions.map { Self.extension($0.identifier, isCritical: false, $0.content) }
        let algorithm = DERItem.sequence([.objectIdentifier(Self.signatureAlgorithm)])
        let body = DERItem.sequence([
            .tagged(0, [.integer(2)]), .integer(serialNumber), algorithm, issuer.name.item,
            .sequence([.time(validity.lowerBound), .time(validity.upperBound)]), name.item,
            .sequence([
                .sequence([.objectIdentifier("1.2.840.10045.2.1"), .objectIdentifier("1.2.840.10045.3.1.7")]),
                .bitString(key.point),
            ]),
            .tagged(3, [.sequence(all)]),
        ])
        let signature = try issuer.key.sign(body.bytes)
        der = DERItem.sequence([.encoded(body.bytes), algorithm, .bitString(signature)]).bytes
        (self.serialNumber, self.issuer) = (serialNumber, issuer.name)
    }

    /// ECDSA with SHA-256.
    static let signatureAlgorithm = "1.2.840.10045.4.3.2"

    private static func `extension`(
        _ identifier: String, isCritical: Bool, _ content: [UInt8]
    ) -> DERItem {
        .sequence(
            [.objectIdentifier(identifier)] + (isCritical ? [.boolean(true)] : [])
                + [.octetString(content)])
    }
}
