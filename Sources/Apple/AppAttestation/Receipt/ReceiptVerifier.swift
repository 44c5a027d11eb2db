public import Certificates
public import JOSE

/// Verifies App Attest receipts, as Apple's documentation requires ("Assessing fraud risk").
///
/// Does no I/O and reads no clock. Thread-safe. Verify a receipt when it arrives, because Apple's signing
/// certificates are valid for only about 13 months.
public struct ReceiptVerifier: Sendable {
    private let signer: ReceiptSignerCheck
    private let appID: ReceiptAppIDCheck
    private let environment: ReceiptEnvironmentCheck

    /// - Parameter root: `.appleRootG3`, except in tests and with the fake Apple.
    public init(root: TrustAnchor, appID: AppID, environment: AttestationEnvironment) {
        signer = ReceiptSignerCheck(root: root)
        self.appID = ReceiptAppIDCheck(appID: appID)
        self.environment = ReceiptEnvironmentCheck(environment: environment)
    }

    /// Returns the receipt's content, or throws the code of the first `ReceiptStep` that failed.
    ///
    /// - Parameters:
    ///   - key: The attested key for which Apple must have issued the receipt.
    ///   - now: Milliseconds since 1970.
    public func verify(
        _ receipt: UnverifiedReceipt, of key: ECPublicKey, from origin: ReceiptOrigin, at now: Int64
    ) throws(ReceiptError) -> VerifiedReceipt {
        guard let message = SignedMessage(receipt.bytes) else {
            throw ReceiptError(
                .malformed, found: "other bytes", expected: "one signed message with one signer and content")
        }
        try signer.check(message, at: now)
        let content = try ReceiptContent(parsing: ReceiptSignatureCheck().content(of: message))
        try appID.check(content)
        try ReceiptKeyCheck(key: key).check(content)
        try ReceiptKindCheck(kind: origin.kind).check(content)
        try environment.check(content)
        switch origin {
        case .attestation(let hash): try ReceiptClientHashCheck(clientDataHash: hash).check(content)
        case .exchange: break
        }
        try ReceiptAgeCheck().check(content, at: now)
        return VerifiedReceipt(receipt.bytes, content)
    }
}

/// A receipt of unknown origin, whose size has been checked.
public struct UnverifiedReceipt: Sendable {
    /// Maximum size in bytes. Apple's receipts are 3,600 to 4,000 bytes long.
    public static let longest = 16 * 1024

    public let bytes: [UInt8]

    /// Creates an unverified receipt. Throws `.tooLarge` if it exceeds `longest` bytes.
    public init(_ bytes: [UInt8]) throws(ReceiptError) {
        guard bytes.count <= Self.longest else {
            throw ReceiptError(
                .tooLarge, found: "\(bytes.count) bytes", expected: "at most \(Self.longest) bytes")
        }
        self.bytes = bytes
    }
}

/// A receipt that Apple signed for a key. Only `ReceiptVerifier` creates this value.
public struct VerifiedReceipt: Sendable {
    /// The receipt as received. The next exchange sends it.
    public let bytes: [UInt8]
    public let kind: ReceiptKind
    public let environment: AttestationEnvironment
    /// Creation time in milliseconds since 1970.
    public let createdAt: Int64
    /// The approximate number of keys that the app has attested on the device within 30 days; `nil` in an
    /// attestation's receipt. A high number is a reason to investigate, but reinstalls raise it too.
    public let riskMetric: UInt32?
    /// Earliest time of the next exchange, in milliseconds since 1970; `nil` if there is no minimum.
    public let notBefore: Int64?
    /// Expiration time in milliseconds since 1970.
    public let expiresAt: Int64

    /// Creates the receipt. All values must have passed every check.
    init(_ bytes: [UInt8], _ content: ReceiptContent) {
        self.bytes = bytes
        (kind, environment, createdAt) = (content.kind, content.environment, content.createdAt)
        (riskMetric, notBefore, expiresAt) = (content.riskMetric, content.notBefore, content.expiresAt)
    }
}

/// The origin of a receipt that has just arrived. Each origin needs different checks.
public enum ReceiptOrigin: Sendable, Hashable {
    /// The receipt arrived in the attestation with this client data hash.
    case attestation(ClientDataHash)
    /// The receipt arrived in a response from Apple.
    case exchange

    var kind: ReceiptKind {
        switch self {
        case .attestation: .attestation
        case .exchange: .refreshed
        }
    }
}

/// The kinds of receipt, from field 6.
public enum ReceiptKind: String, Sendable, CaseIterable {
    /// A receipt that comes with an attestation.
    case attestation = "ATTEST"
    /// A receipt from an exchange with Apple, with the risk metric.
    case refreshed = "RECEIPT"
}

/// The reason why a receipt was refused: one code per cause. Match on `code`.
///
/// A receipt never affects decisions about keys or requests; it only provides the risk metric.
public typealias ReceiptError = StepError<ReceiptErrorCode>

public enum ReceiptErrorCode: String, StepErrorCode {
    public static let object = "receipt"

    /// The receipt is larger than 16 KiB.
    case tooLarge = "receipt_too_large"
    /// The receipt is not exactly one signed message with one signer and content.
    case malformed = "receipt_malformed"
    /// The signer's certificate does not chain to the pinned root.
    case chainUntrusted = "receipt_chain_untrusted"
    case certificateExpired = "receipt_certificate_expired"
    case certificateNotYetValid = "receipt_certificate_not_yet_valid"
    /// The signer did not sign this content.
    case signatureInvalid = "receipt_signature_invalid"
    /// The content is not a set of fields, or a field is missing, repeated or malformed.
    case contentMalformed = "receipt_content_malformed"
    /// The receipt is for another app.
    case appIDMismatch = "receipt_app_id_mismatch"
    /// The receipt is for another key.
    case keyMismatch = "receipt_key_mismatch"
    /// The receipt is from an attestation but a refreshed receipt is expected, or the reverse.
    case kindMismatch = "receipt_kind_mismatch"
    /// The receipt is from the other environment.
    case environmentMismatch = "receipt_environment_mismatch"
    /// The receipt is for another attestation of the key.
    case clientHashMismatch = "receipt_client_hash_mismatch"
    /// The receipt is older than 5 minutes, or its creation time is in the future.
    case notFresh = "receipt_not_fresh"
    case expired = "receipt_expired"
}

/// Receipt verification steps in order of execution. The first step that fails determines the error.
public enum ReceiptStep: String, Sendable, CaseIterable {
    case size = "receipt size"
    case form = "receipt form"
    case chain = "receipt certificate chain"
    case signature = "receipt signature"
    case content = "receipt content"
    case appID = "receipt app ID"
    case key = "receipt key"
    case kind = "receipt kind"
    case environment = "receipt environment"
    /// Compares the client data hash. Only for an attestation's receipt, because Apple corrupts the field
    /// when it refreshes a receipt.
    case clientHash = "receipt client hash"
    case age = "receipt age"
}

extension ReceiptErrorCode {
    /// The step that throws this code.
    public var step: ReceiptStep {
        switch self {
        case .tooLarge: .size
        case .malformed: .form
        case .chainUntrusted, .certificateExpired, .certificateNotYetValid: .chain
        case .signatureInvalid: .signature
        case .contentMalformed: .content
        case .appIDMismatch: .appID
        case .keyMismatch: .key
        case .kindMismatch: .kind
        case .environmentMismatch: .environment
        case .clientHashMismatch: .clientHash
        case .notFresh, .expired: .age
        }
    }
}
