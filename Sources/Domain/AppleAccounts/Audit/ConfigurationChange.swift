/// A part of the configuration that has changed since the last start. Values appear only as fingerprints.
public struct ConfigurationChange: Sendable, Hashable {
    /// The name of the part, for example "api_key backend".
    public let item: String
    /// The earlier fingerprint; `nil` for a new part.
    public let before: String?
    /// The new fingerprint; `nil` for a removed part.
    public let after: String?

    public init(item: String, before: String?, after: String?) {
        (self.item, self.before, self.after) = (item, before, after)
    }

    /// Maximum length of a part's name, in characters.
    public static let longestItem = 300

    /// Compares fingerprints item by item, and returns the changes sorted by item.
    public static func between(_ before: [String: String], _ after: [String: String]) -> [ConfigurationChange]
    {
        Set(before.keys).union(after.keys).sorted()
            .filter { before[$0] != after[$0] }
            .map { ConfigurationChange(item: $0, before: before[$0], after: after[$0]) }
    }

    public func entry(at moment: Moment) -> AuditEntry {
        let words =
            switch (before, after) {
            case (nil, let after?): "added, \(after)"
            case (let before?, nil): "removed, was \(before)"
            case (let before?, let after?): "changed from \(before) to \(after)"
            case (nil, nil): "unchanged"
            }
        return AuditEntry(.configurationChanged, by: .service, at: moment, detail: "\(item): \(words)")
    }
}

/// A configuration part, as it was at the last start.
public struct SeenConfigurationPart: Sendable, Hashable {
    /// The name of the part, for example "sealing_key 2026".
    public let item: String
    public let fingerprint: String
    /// Time of the first start with this fingerprint on this database. The key itself may be older, or may
    /// have been used elsewhere before.
    public let firstSeenAt: Moment

    public init(item: String, fingerprint: String, firstSeenAt: Moment) {
        (self.item, self.fingerprint, self.firstSeenAt) = (item, fingerprint, firstSeenAt)
    }
}
