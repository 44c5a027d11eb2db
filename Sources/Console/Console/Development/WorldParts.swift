/// A signing key of Apple or of Google.
public struct WorldKey: Sendable, Equatable {
    public let party: WorldExchange.Party
    public let id: String
    public let isPublished: Bool
    public let signs: Bool

    public init(party: WorldExchange.Party, id: String, isPublished: Bool, signs: Bool) {
        (self.party, self.id, self.isPublished, self.signs) = (party, id, isPublished, signs)
    }
}

/// A change of keys. Google's keys are only replaced.
public enum WorldKeyChange: String, Sendable, CaseIterable {
    /// Publishes a new key that does not sign yet.
    case publish
    /// Signs with a published key.
    case sign
    /// Neither publishes the key nor signs with it.
    case retire
    /// Replaces all keys at once, which is the hardest case for what caches keys.
    case replaceAll = "replace-all"
}

/// The faults of one party.
public struct WorldFaultGroup: Sendable {
    public let title: String
    public let faults: [DevelopmentFault]

    public init(_ title: String, _ faults: [DevelopmentFault]) { (self.title, self.faults) = (title, faults) }
}

/// Apple's notifications that wait, and the latest that were sent.
public struct WorldOutbox: Sendable {
    public struct Waiting: Sendable, Equatable {
        public let type: String
        public let name: String
        public let isHeld: Bool
        public let attempts: Int

        public init(type: String, name: String, isHeld: Bool, attempts: Int) {
            (self.type, self.name, self.isHeld, self.attempts) = (type, name, isHeld, attempts)
        }
    }

    public struct Sent: Sendable, Equatable {
        public let type: String
        public let name: String
        /// Milliseconds since 1970.
        public let at: Int64
        public let outcome: String

        public init(type: String, name: String, at: Int64, outcome: String) {
            (self.type, self.name, self.at, self.outcome) = (type, name, at, outcome)
        }
    }

    public let isHolding: Bool
    public let waiting: [Waiting]
    /// The newest last.
    public let sent: [Sent]

    public init(isHolding: Bool, waiting: [Waiting], sent: [Sent]) {
        (self.isHolding, self.waiting, self.sent) = (isHolding, waiting, sent)
    }
}

/// Order of the held notifications when they are released.
public enum WorldReleaseOrder: String, Sendable, CaseIterable {
    case inOrder = "in-order"
    case reversed
    case shuffled
}
