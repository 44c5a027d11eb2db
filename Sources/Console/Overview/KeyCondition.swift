public import AppleAccounts

/// A key of the service as the overview shows it. Nothing in it is secret.
public struct KeyCondition: Sendable {
    /// The use of the key, such as "seals stored values".
    public let use: String
    public let name: String
    public let fingerprint: String
    /// The moment at which the key was made; `nil` where it is not known.
    public let madeAt: Moment?

    public init(use: String, name: String, fingerprint: String, madeAt: Moment?) {
        (self.use, self.name, self.fingerprint, self.madeAt) = (use, name, fingerprint, madeAt)
    }
}
