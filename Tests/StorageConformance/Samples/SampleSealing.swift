public import AppleAccounts

/// Seals so that a test can read what was sealed, and for whom. The stores that the suite runs on are opened
/// with it.
public struct SampleSealing: GrantSealing {
    public init() {}

    /// The longest secret becomes the longest that a store keeps.
    public func seal(
        _ secret: GrantSecret, as purpose: SealedPurpose, of account: AccountID, clientID: ClientID
    ) -> SealedSecret {
        if secret.text.utf8.count == GrantSecret.longest { return Self.longest }
        return .sample("\(secret.text) of \(account.rawValue)")
    }

    static let longest = SealedSecret.sample(String(repeating: "7", count: SealedSecret.longest))
}
