/// Decides if receipts of App Attest are kept, and exchanged at Apple for the risk metric.
enum ReceiptExchange: String, CaseIterable {
    case off
    /// The signing keys of the teams must have DeviceCheck enabled.
    case on
}
