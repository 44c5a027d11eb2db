/// A part of the configuration that differs from the last start. Values appear only as fingerprints.
public struct ConfigurationChange: Sendable, Hashable {
    /// The name of the part, such as "api_key backend".
    public let item: String
    /// Earlier fingerprint; `nil` for a new part.
    public let before: String?
    /// New fingerprint; `nil` for a removed part.
    public let after: String?

    public init(item: String, before: String?, after: String?) {
        (self.item, self.before, self.after) = (item, before, after)
    }

    /// Largest number of characters of the name of a part.
    public static let longestItem = 300

    /// Compares fingerprints by item. Returns changes in the order of the items.
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

/// A part of the configuration at the last start.
public struct SeenConfigurationPart: Sendable, Hashable {
    /// The name of the part, such as "sealing_key 2026".
    public let item: String
    public let fingerprint: String
    /// Time of the first start with this fingerprint on this database. A key may be
    /// older, or may have been used elsewhere before.
    public let firstSeenAt: Moment

    public init(item: String, fingerprint: String, firstSeenAt: Moment) {
        (self.item, self.fingerprint, self.firstSeenAt) = (item, fingerprint, firstSeenAt)
    }
}
