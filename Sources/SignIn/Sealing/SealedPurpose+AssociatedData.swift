public import AppleAccounts
public import Cryptography

extension SealedPurpose {
    public var sealingPurpose: SealingPurpose { SealingPurpose(rawValue) }

    /// What a sealed value is bound to besides its purpose: the account and the client ID to which Apple
    /// issued the secret. It opens as nothing else, so that rows cannot be swapped.
    ///
    /// The account's ID is in it and not the `sub`: a team transfer changes the `sub`, and an erasure forgets
    /// it. A line feed stands between the three; none of them can hold one, so no two triples read the same.
    public func associatedData(of account: AccountID, clientID: ClientID) -> [UInt8] {
        Array("\(rawValue)\n\(account.rawValue)\n\(clientID.rawValue)".utf8)
    }
}
