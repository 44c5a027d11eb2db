/// Refuses a receipt of the other environment (field 7).
struct ReceiptEnvironmentCheck: Sendable {
    let environment: AttestationEnvironment

    func check(_ content: ReceiptContent) throws(ReceiptError) {
        guard content.environment == environment else {
            throw ReceiptError(
                .environmentMismatch, found: content.environment.rawValue, expected: environment.rawValue)
        }
    }
}
