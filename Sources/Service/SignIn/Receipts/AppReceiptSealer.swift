import AppAttestation
import AppleAccounts
import Cryptography

/// Seals receipts of App Attest for storage, and opens them.
struct AppReceiptSealer: Sendable {
    let keys: SealingKeyRing

    private static let purpose = SealingPurpose("app_attest_receipt")

    /// Returns `nil` for a receipt that is too long to be kept. Apple's have a quarter of the bound.
    func seal(_ receipt: [UInt8], of key: AttestedKeyID) -> SealedSecret? {
        SealedSecret(keys.seal(receipt, for: Self.purpose, associatedData: Self.associatedData(key)))
    }

    func open(_ sealed: SealedSecret, of key: AttestedKeyID) throws(SealError) -> [UInt8] {
        try keys.open(sealed.bytes, for: Self.purpose, associatedData: Self.associatedData(key))
    }

    /// Binds a value to its row, so that rows cannot be exchanged.
    private static func associatedData(_ key: AttestedKeyID) -> [UInt8] {
        Array("app_attest_receipt\n\(key.base64)".utf8)
    }
}
