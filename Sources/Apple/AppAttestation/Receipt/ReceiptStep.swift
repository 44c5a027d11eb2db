/// The steps of the verification of a receipt, in the order in which they happen. The first step that fails
/// decides the error.
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
    /// Only for the receipt of an attestation: Apple ruins the field when it refreshes a receipt.
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
