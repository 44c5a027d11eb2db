public import AppleAccounts

/// A key of the service as the overview shows it. Nothing in it is secret.
public struct KeyCondition: Sendable {
    /// The age of a key, as far as it is known.
    public enum Age: Sendable, Equatable {
        /// The service made the key.
        case made(Moment)
        /// A start with this database first had the key at this moment. The key can be older.
        case firstSeen(Moment)
        /// The last start did not have the key: its file is new since, or another replica has started without it.
        case notSeen
        /// The database did not say.
        case unknown
    }

    /// The use of the key, such as "seals stored values".
    public let use: String
    public let name: String
    public let fingerprint: String
    public let age: Age
    /// The ID of a key that signs tokens and does not open, so that an operator can retire it.
    public var shutKeyID: String?

    public init(use: String, name: String, fingerprint: String, age: Age) {
        (self.use, self.name, self.fingerprint, self.age) = (use, name, fingerprint, age)
    }

    func ageText(at now: Moment) -> String {
        switch age {
        case .made(let moment): "made \(OverviewValues.ago(moment, at: now))"
        case .firstSeen(let moment): "first seen \(OverviewValues.ago(moment, at: now))"
        case .notSeen: "not at the last start"
        case .unknown: "–"
        }
    }
}
