/// A receipt that Apple has signed for a key. Only `ReceiptVerifier` creates it.
public struct VerifiedReceipt: Sendable {
    /// As Apple made it. The next exchange sends it.
    public let bytes: [UInt8]
    public let kind: ReceiptKind
    public let environment: AttestationEnvironment
    /// Milliseconds since 1970.
    public let createdAt: Int64
    /// The approximate number of keys that the app has attested on the device in 30 days. It is a signal to
    /// investigate: reinstalls raise it. `nil` in the receipt of an attestation.
    public let riskMetric: UInt32?
    /// The earliest time of the next exchange in milliseconds since 1970; `nil` for at once.
    public let notBefore: Int64?
    /// Milliseconds since 1970.
    public let expiresAt: Int64

    /// All values must have passed every check.
    init(_ bytes: [UInt8], _ content: ReceiptContent) {
        self.bytes = bytes
        (kind, environment, createdAt) = (content.kind, content.environment, content.createdAt)
        (riskMetric, notBefore, expiresAt) = (content.riskMetric, content.notBefore, content.expiresAt)
    }
}
