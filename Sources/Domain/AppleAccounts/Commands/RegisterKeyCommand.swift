/// A key of App Attest with a verified attestation.
public struct RegisterKeyCommand: Sendable, Hashable {
    /// The most keys of one app. Each needs a genuine attestation of Apple's.
    public static let mostKeys: Int64 = 10_000_000

    /// With the counter 0. A known key keeps its counter.
    public let key: AttestedKeyRecord
    /// The challenge of the attestation. Consumed whatever the result is. `nil` for a challenge that has
    /// expired: the command then only finds a key that is registered.
    public let challenge: UsedNonce?
    public let mostKeys: Int64

    public init(key: AttestedKeyRecord, challenge: UsedNonce?, mostKeys: Int64 = mostKeys) {
        (self.key, self.challenge, self.mostKeys) = (key, challenge, mostKeys)
    }
}

/// The result of a registration.
public struct RegisteredKey: Sendable, Hashable {
    /// The key as it is stored.
    public let key: AttestedKeyRecord
    public let isNew: Bool

    public init(key: AttestedKeyRecord, isNew: Bool) {
        (self.key, self.isNew) = (key, isNew)
    }
}
