import Cryptography
import EmulatorServer
import Encodings
import JOSE

/// The authorities that sign attestations and receipts, and authorities with the same names under roots that
/// no service trusts.
struct AppAttestAuthorities: Sendable {
    let attestation: CertificateAuthority
    let receipts: ReceiptSigner
    /// Authority with the same names as `attestation`, but under another root.
    let foreignAttestation: CertificateAuthority
    let foreignReceipts: ReceiptSigner

    /// Creates the authorities. Throws `.attestationUnsignable` if OpenSSL fails.
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

/// One of the fake Apple's intermediate certificate authorities, under one of its roots.
struct CertificateAuthority: Sendable {
    let certificate: IssuedCertificate
    private let name: CertificateName
    private let key: KeyPair

    /// Creates an authority. Throws `.attestationUnsignable` if OpenSSL fails.
    init(
        _ commonName: String, under root: (name: CertificateName, key: KeyPair)
    ) throws(EmulatorError) {
        name = CertificateName(commonName: commonName)
        key = try .generate()
        certificate = try IssuedCertificate(
            of: key.publicKey, name: name, by: root, validity: Self.validity, isAuthority: true)
    }

    /// Issues a certificate. Throws `.attestationUnsignable` if OpenSSL fails.
    func issue(
        to subject: ECPublicKey, _ commonName: String, validity: ClosedRange<Int64>,
        extensions: [(identifier: String, content: [UInt8])] = []
    ) throws(EmulatorError) -> IssuedCertificate {
        try IssuedCertificate(
            of: subject, name: CertificateName(commonName: commonName), by: (name, key), validity: validity,
            isAuthority: false, extensions: extensions)
    }

    /// Validity from 2020-01-01 to 2049-12-31, the same as for the roots.
    static let validity: ClosedRange<Int64> = 1_577_836_800...2_524_607_999
}

/// A root certificate of the fake Apple, with its private key.
///
/// Both private keys are public because this file contains them, so any program can sign with them. A service
/// trusts these roots only in siwa-dev, in development and with `APPLE_BASE_URL`. The roots are fixed, so
/// that the service and the fake Apple can start in any order without exchanging anything.
package struct FakeRoot: Sendable {
    let name: CertificateName
    /// Private key: base64 of PKCS #8.
    private let privateKey: String
    /// Certificate: base64 of DER.
    private let certificate: String

    package var certificatePEM: String {
        Self.pem("CERTIFICATE", certificate)
    }

    /// Returns the key pair. Throws `.attestationUnsignable` if OpenSSL fails.
    func keyPair() throws(EmulatorError) -> KeyPair {
        try KeyPair(pem: Self.pem("PRIVATE KEY", privateKey))
    }

    private static func pem(_ label: String, _ base64: String) -> String {
        var (lines, rest) = (["-----BEGIN \(label)-----"], base64[...])
        while !rest.isEmpty {
            lines.append(String(rest.prefix(64)))
            rest = rest.dropFirst(64)
        }
        return (lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
    }

    /// Root that replaces the Apple App Attestation Root CA.
    package static let attestation = FakeRoot(
        name: CertificateName(commonName: "Fake App Attestation Root CA"),
        privateKey: """
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgE27D1H/U2Krqw6rz\
            WB+UvQU13CLdbXr19sbJeMjle/uhRANCAAQoYv/TPbkTrSxtAo0NFrxbsJWA2awx\
            uzeonf6Kcdi6hFMEp/37ucu2BBcOzpDbB8dsJcT+CVXCauwyuzgVgStI
            """,
        certificate: """
            MIIBwDCCAWagAwIBAgIUfryXTHMYJmnguHqHkVlEY+K16+EwCgYIKoZIzj0EAwIw\
            PjElMCMGA1UEAwwcRmFrZSBBcHAgQXR0ZXN0YXRpb24gUm9vdCBDQTEVMBMGA1UE\
            CgwMc2l3YSBlbXVsYXRlMB4XDTIwMDEwMTAwMDAwMFoXDTQ5MTIzMTIzNTk1OVow\
            PjElMCMGA1UEAwwcRmFrZSBBcHAgQXR0ZXN0YXRpb24gUm9vdCBDQTEVMBMGA1UE\
            CgwMc2l3YSBlbXVsYXRlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEKGL/0z25\
            E60sbQKNDRa8W7CVgNmsMbs3qJ3+inHYuoRTBKf9+7nLtgQXDs6Q2wfHbCXE/glV\
            wmrsMrs4FYErSKNCMEAwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYw\
            HQYDVR0OBBYEFJ9BdxJGMh8Uya6HvAvxid1I39YGMAoGCCqGSM49BAMCA0gAMEUC\
            IAfZIY6qb921ng2W6ErcZP6qIMam1bseuY6Agetx0WDiAiEA/u/MhxhHQFImMU8N\
            CEMYoxB9rg5I4FcMRy0msuVxPTQ=
            """)

    /// Root that replaces the Apple Root CA - G3, under which receipts are signed.
    package static let receipts = FakeRoot(
        name: CertificateName(commonName: "Fake Root CA - G3"),
        privateKey: """
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgQkVolNzhx2+Y/R7I\
            u6mjr+cZGeXVXgQYz/DeoO3egYehRANCAATfPfm0p+0YERO+49J54aNRAefd4AOb\
            yiYNRQwO1QcyQavolKFPDAz9Uxhre4YVxUtXkXT3VGyGS8yKiE8ac8LO
            """,
        certificate: """
            MIIBqjCCAVCgAwIBAgIUAIQ0Tqcs+y53qY1PpqNII3HEgyYwCgYIKoZIzj0EAwIw\
            MzEaMBgGA1UEAwwRRmFrZSBSb290IENBIC0gRzMxFTATBgNVBAoMDHNpd2EgZW11\
            bGF0ZTAeFw0yMDAxMDEwMDAwMDBaFw00OTEyMzEyMzU5NTlaMDMxGjAYBgNVBAMM\
            EUZha2UgUm9vdCBDQSAtIEczMRUwEwYDVQQKDAxzaXdhIGVtdWxhdGUwWTATBgcq\
            hkjOPQIBBggqhkjOPQMBBwNCAATfPfm0p+0YERO+49J54aNRAefd4AObyiYNRQwO\
            1QcyQavolKFPDAz9Uxhre4YVxUtXkXT3VGyGS8yKiE8ac8LOo0IwQDAPBgNVHRMB\
            Af8EBTADAQH/MA4GA1UdDwEB/wQEAwIBBjAdBgNVHQ4EFgQUZRl+ioUIYYnY2BUm\
            FLK4LQyyNzswCgYIKoZIzj0EAwIDSAAwRQIhAIzugA9qBxHzOTYZ/laczrhLRId4\
            YQ5fwJa8PQFCyM7qAiBfDAyT3Rbhu1jHGyI4TyDt4EL9i7Kx54NK5RUAaHGDnA==
            """)
}

/// A certificate that the fake Apple issues for a P-256 key (RFC 5280 §4.1).
struct IssuedCertificate: Sendable {
    let der: [UInt8]
    /// Serial number with 127 random bits.
    let serialNumber: [UInt8]
    let issuer: CertificateName

    /// Issues a certificate. Throws `.attestationUnsignable` if OpenSSL fails.
    ///
    /// - Parameters:
    ///   - validity: Validity period in seconds since 1970.
    ///   - extensions: Object identifiers in dotted form, each with its content in DER.
    init(
        of key: ECPublicKey, name: CertificateName, by issuer: (name: CertificateName, key: KeyPair),
        validity: ClosedRange<Int64>, isAuthority: Bool,
        extensions: [(identifier: String, content: [UInt8])] = []
    ) throws(EmulatorError) {
        var serialNumber = SecureRandom.bytes(count: 16)
        serialNumber[0] &= 0x7F
        let constraints = DERItem.sequence(isAuthority ? [.boolean(true)] : [])
        // Key usage: certificate signing for an authority, otherwise digital signatures (RFC 5280 §4.2.1.3).
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

    /// Object identifier for ECDSA with SHA-256.
    static let signatureAlgorithm = "1.2.840.10045.4.3.2"

    private static func `extension`(
        _ identifier: String, isCritical: Bool, _ content: [UInt8]
    ) -> DERItem {
        .sequence(
            [.objectIdentifier(identifier)] + (isCritical ? [.boolean(true)] : [])
                + [.octetString(content)])
    }
}

/// Subject or issuer name in one of the fake Apple's certificates (RFC 5280 §4.1.2.4).
struct CertificateName: Sendable, Equatable {
    let commonName: String

    var item: DERItem {
        .sequence([
            .set([.sequence([.objectIdentifier("2.5.4.3"), .text(commonName)])]),
            .set([.sequence([.objectIdentifier("2.5.4.10"), .text("siwa emulate")])]),
        ])
    }
}
