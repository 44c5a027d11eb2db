import AppAttestation
import AppleAccounts
import AppleIDClient
import AsyncHTTPClient
import SignIn

extension ServiceSettings {
    /// Keeps receipts; `nil` where they are not exchanged.
    var exchangedReceipts: AppReceipts? {
        switch receipts {
        case .off: nil
        case .on: sealingKeys.map { AppReceipts(root: appAttestRoots.receipt, sealingKeys: $0) }
        }
    }

    /// The client that exchanges receipts, with the signing keys of each team.
    func receiptClient(over client: HTTPClient, clock: AppleClock?) -> AppleReceiptClient {
        let locations = signingKeys.map { ($0.key.rawValue, $0.value) }
        return AppleReceiptClient(
            client: client, endpoints: appleEndpoints,
            keys: SigningKeyFiles(Dictionary(uniqueKeysWithValues: locations)), clock: clock,
            secondsSince1970: { ProcessObservation.millisecondsSince1970() / 1000 })
    }
}
