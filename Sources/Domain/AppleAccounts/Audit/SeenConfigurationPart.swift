/// A part of the configuration as the last start had it.
public struct SeenConfigurationPart: Sendable, Hashable {
    /// The name of the part, such as "sealing_key 2026".
    public let item: String
    public let fingerprint: String
    /// The moment of the start that first had the part with this fingerprint, on this database. A key is older, or
    /// was in use elsewhere before.
    public let firstSeenAt: Moment

    public init(item: String, fingerprint: String, firstSeenAt: Moment) {
        (self.item, self.fingerprint, self.firstSeenAt) = (item, fingerprint, firstSeenAt)
    }
}
