public import AppleAccounts
public import Cryptography

/// Seals codes and refresh tokens for storage, and opens them.
struct GrantSealer: Sendable {
    /// In bytes. Apple's codes and tokens are far shorter.
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

extension SealedPurpose {
    public var sealingPurpose: SealingPurpose { SealingPurpose(rawValue) }

    /// What a sealed value is bound to besides its purpose: the account, and the client ID to which Apple
    /// issued the secret. It opens for nothing else, so that rows cannot be exchanged.
    ///
    /// It contains the account's ID and not the `sub`: a team transfer changes the `sub`, and an erasure
    /// deletes it. A line feed separates the three; none of them can contain one, so no two triples are
    /// equal.
    public func associatedData(of account: AccountID, clientID: ClientID) -> [UInt8] {
        Array("\(rawValue)\n\(account.rawValue)\n\(clientID.rawValue)".utf8)
    }
}
