/// A receipt of unknown origin. Its size has been checked.
public struct UnverifiedReceipt: Sendable {
    /// In bytes. Apple's receipts have 3,600 to 4,000.
    public static let longest = 16 * 1024

    public let bytes: [UInt8]

    /// Throws `.tooLarge`.
    public init(_ bytes: [UInt8]) throws(ReceiptError) {
        guard bytes.count <= Self.longest else {
            throw ReceiptError(
                .tooLarge, found: "\(bytes.count) bytes", expected: "at most \(Self.longest) bytes")
        }
        self.bytes = bytes
    }
}
