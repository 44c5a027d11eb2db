extension SettingsReader {
    /// Reads the exchange of receipts, which needs a key to seal them and a key to sign the requests.
    mutating func receiptExchange(canSeal: Bool, canSign: Bool) -> ReceiptExchange {
        let exchange: ReceiptExchange = choice(.receipts) ?? .off
        switch exchange {
        case .off: break
        case .on:
            if !canSeal {
                mistakes.add(
                    Setting.receipts.name,
                    "needs \(Setting.sealingKeys.name), with which receipts are kept")
            }
            if !canSign {
                mistakes.add(
                    Setting.receipts.name,
                    "needs \(Setting.privateKeyFile.name), a key of Apple with DeviceCheck enabled")
            }
        }
        return exchange
    }
}
