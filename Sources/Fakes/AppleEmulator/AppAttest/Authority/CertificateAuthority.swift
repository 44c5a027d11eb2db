import EmulatorServer
import JOSE

/// An intermediate certificate authority of the fake Apple, under one of its roots.
struct CertificateAuthority: Sendable {
    let certificate: IssuedCertificate
    private let name: CertificateName
    private let key: KeyPair

    /// Throws `.attestationUnsignable`.
    init(
        _ commonName: String, under root: (name: CertificateName, key: KeyPair)
    ) throws(EmulatorError) {
        name = CertificateName(commonName: commonName)
        key = try .generate()
        certificate = try IssuedCertificate(
            of: key.publicKey, name: name, by: root, validity: Self.validity, isAuthority: true)
    }

    /// Throws `.attestationUnsignable`.
    func issue(
        to subject: ECPublicKey, _ commonName: String, validity: ClosedRange<Int64>,
        extensions: [(identifier: String, content: [UInt8])] = []
    ) throws(EmulatorError) -> IssuedCertificate {
        try IssuedCertificate(
            of: subject, name: CertificateName(commonName: commonName), by: (name, key), validity: validity,
            isAuthority: false, extensions: extensions)
    }

    /// 2020-01-01 to 2049-12-31, as the roots.
    static let validity: ClosedRange<Int64> = 1_577_836_800...2_524_607_999
}
