import Certificates

/// Refuses a receipt with changed content, or with a signature of another key.
struct ReceiptSignatureCheck: Sendable {
    /// The content that is signed.
    func content(of message: borrowing SignedMessage) throws(ReceiptError) -> [UInt8] {
        guard let content = message.verifiedContent() else {
            throw ReceiptError(
                .signatureInvalid, found: "a signature that is not of this content",
                expected: "a signature by the key of the signer's certificate")
        }
        return content
    }
}
