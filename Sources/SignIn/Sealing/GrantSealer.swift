import AppleAccounts
import Cryptography

/// Seals codes and refresh tokens for storage, and opens them again.
struct GrantSealer: Sendable {
    /// Bytes, which Apple's codes and tokens stay far below.
    static let longestSecret = 8192

    let keys: SealingKeyRing

    /// `nil` for a secret that is empty or too long to be Apple's.
    func seal(
        _ secret: String, as purpose: SealedPurpose, of account: AccountID, clientID: ClientID
    ) -> SealedSecret? {
        guard Self.isAcceptable(secret) else { return nil }
        return SealedSecret(
            keys.seal(
                Array(secret.utf8), for: purpose.sealingPurpose,
                associatedData: purpose.associatedData(of: account, clientID: clientID)))
    }

    func open(
        _ sealed: SealedSecret, as purpose: SealedPurpose, of account: AccountID, clientID: ClientID
    ) throws(SealError) -> String {
        let plaintext = try keys.open(
            sealed.bytes, for: purpose.sealingPurpose,
            associatedData: purpose.associatedData(of: account, clientID: clientID))
        return String(decoding: plaintext, as: UTF8.self)
    }

    static func isAcceptable(_ secret: String) -> Bool {
        (1...longestSecret).contains(secret.utf8.count)
    }
}
