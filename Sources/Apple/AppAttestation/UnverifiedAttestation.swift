import Certificates
import Encodings

/// An attestation object of unknown origin, whose size, CBOR and members have been checked.
public struct UnverifiedAttestation: Sendable {
    /// Maximum size in bytes. Apple's objects are 5,400 to 5,900 bytes long.
    public static let longestObject = 16 * 1024
    static let format = "apple-appattest"

    let format: String
    /// The leaf certificate in DER.
    let leaf: ArraySlice<UInt8>
    /// The intermediate certificate in DER.
    let intermediate: ArraySlice<UInt8>
    let receipt: ArraySlice<UInt8>
    let authenticatorData: ArraySlice<UInt8>

    /// Parses an attestation object. Unknown members are ignored, because some iOS versions send more.
    ///
    /// Throws the codes for steps `size` and `form` of `AppAttestationStep`.
    public init(_ bytes: [UInt8]) throws(AppAttestationError) {
        let object = try ObjectMembers.read(bytes, longest: Self.longestObject)
        guard let format = object["fmt"]?.text, let statement = object["attStmt"]?.map,
            let certificates = statement["x5c"]?.array, let receipt = statement["receipt"]?.bytes,
            let authenticatorData = object["authData"]?.bytes, certificates.count == 2,
            let leaf = certificates[0].bytes, let intermediate = certificates[1].bytes
        else {
            throw AppAttestationError(
                .objectMalformed, found: "other members",
                expected: "fmt, attStmt with two certificates in x5c and a receipt, and authData")
        }
        self.format = format
        (self.leaf, self.intermediate) = (leaf, intermediate)
        (self.receipt, self.authenticatorData) = (receipt, authenticatorData)
    }
}

/// An assertion of unknown origin, whose size, CBOR and members have been checked.
public struct UnverifiedAssertion: Sendable {
    /// Maximum size in bytes. Apple's assertions are 140 to 260 bytes long.
    public static let longestObject = 4 * 1024

    /// The ECDSA signature in DER.
    let signature: ArraySlice<UInt8>
    let authenticatorData: ArraySlice<UInt8>

    /// Parses an assertion. Unknown members are ignored, because some iOS versions send more.
    ///
    /// Throws the codes for steps `size` and `form` of `AppAttestationStep`.
    public init(_ bytes: [UInt8]) throws(AppAttestationError) {
        let object = try ObjectMembers.read(bytes, longest: Self.longestObject)
        guard let signature = object["signature"]?.bytes,
            let authenticatorData = object["authenticatorData"]?.bytes
        else {
            throw AppAttestationError(
                .objectMalformed, found: "other members", expected: "signature and authenticatorData")
        }
        (self.signature, self.authenticatorData) = (signature, authenticatorData)
    }
}

/// Reads the outermost map in an attestation or assertion.
enum ObjectMembers {
    static func read(_ bytes: [UInt8], longest: Int) throws(AppAttestationError) -> CBORMap {
        guard bytes.count <= longest else {
            throw AppAttestationError(
                .objectTooLarge, found: "\(bytes.count) bytes", expected: "at most \(longest) bytes")
        }
        let value: CBORValue
        do throws(CBORError) {
            value = try CBORValue(parsing: bytes[...], limits: CBORLimits(size: longest))
        } catch {
            throw AppAttestationError(
                .objectMalformed, found: error.debugDescription, expected: "one map in strict CBOR")
        }
        guard let map = value.map else {
            throw AppAttestationError(
                .objectMalformed, found: "another item of CBOR", expected: "one map in strict CBOR")
        }
        return map
    }
}

/// The content of an unverified object, for explanations only, such as the output of `siwa verify`. No
/// decision may depend on it.
public struct UnverifiedContent: Sendable {
    /// The SHA-256 of the app ID, as the object contains it.
    public let appIDHash: [UInt8]
    public let counter: UInt32
    public let extensions: AuthenticatorExtensions?
    /// The environment; `nil` for assertions, and if the AAGUID belongs to neither environment.
    public let environment: AttestationEnvironment?
    /// The credential ID in base64; `nil` for assertions.
    public let credentialID: String?
    /// The leaf certificate's validity in seconds since 1970; `nil`
    /// for assertions, and if the certificate cannot be read.
    public let validity: (begin: Int64, end: Int64)?
    /// The receipt size in bytes; `nil` for assertions.
    public let receiptSize: Int?

    /// Returns `nil` if the authenticator data cannot be read.
    public init?(of attestation: UnverifiedAttestation) {
        self.init(
            attestation.authenticatorData, of: .attestation,
            validity: Self.validity(ofCertificate: attestation.leaf),
            receiptSize: attestation.receipt.count)
    }

    /// Returns `nil` if the authenticator data cannot be read.
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
