/// The two kinds of receipt, in field 6.
public enum ReceiptKind: String, Sendable, CaseIterable {
    /// Comes with an attestation.
    case attestation = "ATTEST"
    /// Comes from an exchange with Apple, and has the risk metric.
    case refreshed = "RECEIPT"
}
