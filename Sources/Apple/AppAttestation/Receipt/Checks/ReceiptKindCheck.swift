/// Refuses the receipt of an attestation in place of a refreshed receipt, and the reverse (field 6).
struct ReceiptKindCheck: Sendable {
    let kind: ReceiptKind

    func check(_ content: ReceiptContent) throws(ReceiptError) {
        guard content.kind == kind else {
            throw ReceiptError(.kindMismatch, found: content.kind.rawValue, expected: kind.rawValue)
        }
    }
}
