public import AppleAccounts

/// Seals so that a test can read the value and its purpose. The stores of the suite are opened with it.
public struct SampleSealing: AppleTokenSealing {
    public init() {}

    /// Seals a secret. The longest secret becomes the longest sealed value that a store accepts.
    public func seal(
        _ secret: AppleTokenSecret, as purpose: SealedPurpose, of account: AccountID, clientID: ClientID
    ) -> SealedSecret {
        if secret.text.utf8.count == AppleTokenSecret.longest { return Self.longest }
        return .sample("\(secret.text) of \(account.rawValue)")
    }

    static let longest = SealedSecret.sample(String(repeating: "7", count: SealedSecret.longest))
}
