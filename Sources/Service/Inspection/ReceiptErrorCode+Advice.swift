import AppAttestation

extension ReceiptErrorCode {
    /// Advice for a receipt that was refused with this code. The attestation is accepted without it.
    var advice: String {
        switch self {
        case .tooLarge, .malformed, .contentMalformed:
            "Apple makes no such receipt. The risk metric of this key cannot be fetched."
        case .chainUntrusted, .signatureInvalid:
            "Apple has not signed this receipt; receipts from before 2020-10-22 fail too. Do not trust its fields."
        case .certificateExpired, .certificateNotYetValid, .notFresh, .expired:
            "Verify a receipt when it arrives. --at verifies it as of an earlier time."
        case .appIDMismatch, .keyMismatch, .clientHashMismatch, .environmentMismatch:
            "This receipt belongs to another attestation. Do not exchange it."
        case .kindMismatch:
            "An attestation has a receipt of kind ATTEST. Find out where the app has this receipt from."
        }
    }
}
