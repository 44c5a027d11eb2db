import EmulatorServer
import Encodings

/// A root certificate of the fake Apple, with its private key.
///
/// Both keys are public, because they are in this file: everyone can sign with them. A service trusts these
/// roots only in development and with `APPLE_BASE_URL`. Fixed roots need no exchange at the start, so that the
/// service and the fake Apple can start in any order.
struct FakeRoot: Sendable {
    let name: CertificateName
    /// In base64, PKCS #8.
    private let privateKey: String
    /// In base64, DER.
    private let certificate: String

    var certificatePEM: String {
        Self.pem("CERTIFICATE", certificate)
    }

    /// Throws `.attestationUnsignable`.
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

    /// Stands for the Apple App Attestation Root CA.
    static let attestation = FakeRoot(
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

    /// Stands for the Apple Root CA - G3, under which receipts are signed.
    static let receipts = FakeRoot(
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
