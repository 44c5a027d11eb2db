import Encodings

/// Refuses the receipt of another attestation of the same key (field 4).
///
/// It must not be used for refreshed receipts: Apple forces their hash through UTF-8, which ruins it.
struct ReceiptClientHashCheck: Sendable {
    let clientDataHash: ClientDataHash

    func check(_ content: ReceiptContent) throws(ReceiptError) {
        guard content.clientHash.elementsEqual(clientDataHash.bytes) else {
            throw ReceiptError(
                .clientHashMismatch, found: Hexadecimal.encode(content.clientHash),
                expected: Hexadecimal.encode(clientDataHash.bytes))
        }
    }
}
