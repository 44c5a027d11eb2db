import AppAttestation
import AppleAccounts
public import Certificates
public import Cryptography
import JOSE

/// Checks receipts of App Attest, and keeps them for the risk metric.
public struct AppReceipts: Sendable {
    let root: TrustAnchor
    let sealer: AppReceiptSealer
    let signals = WorkerSignals()

    /// - Parameter root: The root of receipts: Apple's, except in development.
    public init(root: TrustAnchor, sealingKeys: SealingKeyRing) {
        self.root = root
        sealer = AppReceiptSealer(keys: sealingKeys)
    }

    /// Lets the worker look for a receipt that was just stored.
    func wake() { signals[ReceiptRefresh.self].wake() }

    /// Verifies the receipt of an attestation, and seals it. Returns `nil` for a receipt that is refused: the
    /// key is registered without it, because a receipt decides nothing.
    func seal(
        receiptOf attestation: VerifiedAttestation, _ clientDataHash: ClientDataHash, at moment: Moment
    ) -> SealedSecret? {
        let verifier = ReceiptVerifier(
            root: root, appID: attestation.appID, environment: attestation.environment)
        guard let receipt = try? UnverifiedReceipt(attestation.receipt),
            let verified = try? verifier.verify(
                receipt, of: attestation.publicKey, from: .attestation(clientDataHash),
                at: moment.milliseconds)
        else { return nil }
        return sealer.seal(verified.bytes, of: attestation.keyID)
    }

    /// Verifies a receipt that Apple has exchanged.
    func verify(
        _ bytes: [UInt8], of key: AttestedKeyRecord, at moment: Moment
    ) throws -> VerifiedReceipt {
        let verifier = ReceiptVerifier(root: root, appID: key.appID, environment: key.environment)
        return try verifier.verify(
            UnverifiedReceipt(bytes), of: ECPublicKey(point: key.publicKey), from: .exchange,
            at: moment.milliseconds)
    }
}
