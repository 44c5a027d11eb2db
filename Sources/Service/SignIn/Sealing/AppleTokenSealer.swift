public import AppleAccounts
public import Cryptography

/// Seals Apple codes and refresh tokens for storage, and opens them.
public struct AppleTokenSealer: AppleTokenSealing {
    let keys: SealingKeyRing

    public init(keys: SealingKeyRing) {
        self.keys = keys
    }

    public func seal(
        _ secret: AppleTokenSecret, as purpose: SealedPurpose, of account: AccountID, clientID: ClientID
    ) -> SealedSecret {
        let sealed = SealedSecret(
            keys.seal(
                Array(secret.text.utf8), for: purpose.sealingPurpose,
                associatedData: purpose.associatedData(of: account, clientID: clientID)))
        guard let sealed else { preconditionFailure("a sealed secret is at most twice as long as a secret") }
        return sealed
    }

    func open(
        _ sealed: SealedSecret, as purpose: SealedPurpose, of account: AccountID, clientID: ClientID
    ) throws(SealError) -> String {
        let plaintext = try keys.open(
            sealed.bytes, for: purpose.sealingPurpose,
            associatedData: purpose.associatedData(of: account, clientID: clientID))
        return String(decoding: plaintext, as: UTF8.self)
    }
}

extension SealedPurpose {
    public var sealingPurpose: SealingPurpose { SealingPurpose(rawValue) }

    /// Returns the data to which a sealed value is bound besides its purpose: the account, and the client ID
    /// to which Apple issued the secret. The value opens for nothing else, so that rows cannot be exchanged.
    ///
    /// The data contains the account's ID and not the `sub`: a team transfer changes the `sub`, and an
    /// erasure deletes it. A line feed separates the three parts; none can contain a line feed, so no two
    /// triples are equal.
    public func associatedData(of account: AccountID, clientID: ClientID) -> [UInt8] {
        Array("\(rawValue)\n\(account.rawValue)\n\(clientID.rawValue)".utf8)
    }
}
