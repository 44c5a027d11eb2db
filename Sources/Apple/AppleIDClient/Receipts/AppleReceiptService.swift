/// Apple's service that exchanges receipts of App Attest.
public protocol AppleReceiptService: Sendable {
    /// Exchanges a receipt for a newer receipt with the current risk metric. It can be repeated.
    ///
    /// - Parameters:
    ///   - team: The ID of the app's team, whose key signs the request.
    ///   - isProduction: False for the endpoint of development, which knows only development receipts.
    func exchange(
        receipt: [UInt8], team: String, isProduction: Bool
    ) async throws(AppleCallError) -> ReceiptResponse
}

/// The response of Apple to a receipt.
public enum ReceiptResponse: Sendable, Equatable {
    /// 200: the new receipt. It is not verified.
    case refreshed([UInt8])
    /// 304: before the time in the receipt.
    case tooEarly
    /// 404: Apple keeps the data of an attestation for 30 days.
    case forgotten
    /// 400: the receipt is malformed, or of the other environment.
    case refused
}
