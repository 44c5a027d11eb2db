public import AppleAccounts

/// A configured API key: a name for the log, the SHA-256 of the secret, and the apps it is good for.
public struct APIKey: Sendable {
    public let name: String
    /// 32 bytes.
    public let hash: [UInt8]
    public let scope: AppScope

    public init(name: String, hash: [UInt8], scope: AppScope) {
        precondition(hash.count == 32, "not a SHA-256")
        self.name = name
        self.hash = hash
        self.scope = scope
    }
}
