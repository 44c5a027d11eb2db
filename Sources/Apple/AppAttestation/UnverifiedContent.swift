import Certificates
import Encodings

/// The content of an object that was not verified. It is for explanations only, such as `siwa verify`, and
/// must not decide anything.
public struct UnverifiedContent: Sendable {
    /// The hash of the app ID.
    public let appIDHash: [UInt8]
    public let counter: UInt32
    public let extensions: AuthenticatorExtensions?
    /// `nil` for assertions, and for an AAGUID of neither environment.
    public let environment: AttestationEnvironment?
    /// In base64; `nil` for assertions.
    public let credentialID: String?
    /// The validity of the leaf certificate in seconds since 1970. `nil` for assertions, and when it cannot
    /// be read.
    public let validity: (begin: Int64, end: Int64)?
    /// The size of the receipt in bytes; `nil` for assertions.
    public let receiptSize: Int?

    /// Returns `nil` when the authenticator data cannot be read.
    public init?(of attestation: UnverifiedAttestation) {
        self.init(
            attestation.authenticatorData, of: .attestation,
            validity: Self.validity(ofCertificate: attestation.leaf),
            receiptSize: attestation.receipt.count)
    }

    /// Returns `nil` when the authenticator data cannot be read.
    public init?(of assertion: UnverifiedAssertion) {
        self.init(assertion.authenticatorData, of: .assertion, validity: nil, receiptSize: nil)
    }

    private static func validity(ofCertificate der: ArraySlice<UInt8>) -> (begin: Int64, end: Int64)? {
        guard let certificate = CertificateHandle(der: der) else { return nil }
        return certificate.validity()
    }

    private init?(
        _ bytes: ArraySlice<UInt8>, of kind: AppAttestationKind, validity: (begin: Int64, end: Int64)?,
        receiptSize: Int?
    ) {
        guard let data = try? AuthenticatorData(parsing: bytes, of: kind) else { return nil }
        appIDHash = Array(data.appIDHash)
        counter = data.counter
        extensions = try? AuthenticatorExtensions(parsing: data.rest)
        environment = data.credential.flatMap { AttestationEnvironment(aaguid: $0.aaguid) }
        credentialID = data.credential.map { Base64.encode($0.credentialID) }
        self.validity = validity
        self.receiptSize = receiptSize
    }
}
