/// Our own, opaque name of an account: "acc_" and a UUID of version 7.
///
/// It reveals nothing about the user, and it stays when Apple's `sub` changes with the team.
public struct AccountID: Hashable, Sendable {
    public let uniqueID: UniqueID

    public init(_ uniqueID: UniqueID) {
        self.uniqueID = uniqueID
    }

    /// Reads the form of `rawValue`. No other text names an account.
    public init?(_ text: String) {
        guard text.hasPrefix("acc_"), let uniqueID = UniqueID(text.dropFirst(4)) else { return nil }
        self.uniqueID = uniqueID
    }

    public var rawValue: String { uniqueID.text(prefix: "acc_") }
}

/// The name of an account event: "evt_" and a UUID of version 7. It is the same at every reading.
public struct EventID: Hashable, Sendable {
    public let uniqueID: UniqueID

    public init(_ uniqueID: UniqueID) {
        self.uniqueID = uniqueID
    }

    /// Reads the form of `rawValue`.
    public init?(_ text: String) {
        guard text.hasPrefix("evt_"), let uniqueID = UniqueID(text.dropFirst(4)) else { return nil }
        self.uniqueID = uniqueID
    }

    public var rawValue: String { uniqueID.text(prefix: "evt_") }
}

/// The name of an erasure: "era_" and a UUID of version 7.
public struct ErasureID: Hashable, Sendable {
    public let uniqueID: UniqueID

    public init(_ uniqueID: UniqueID) {
        self.uniqueID = uniqueID
    }

    /// Reads the form of `rawValue`.
    public init?(_ text: String) {
        guard text.hasPrefix("era_"), let uniqueID = UniqueID(text.dropFirst(4)) else { return nil }
        self.uniqueID = uniqueID
    }

    public var rawValue: String { uniqueID.text(prefix: "era_") }
}

/// The name of an OAuth token: "grt_" and a UUID of version 7. There is at most one for each account and
/// OAuth client at a time.
public struct GrantID: Hashable, Sendable {
    public let uniqueID: UniqueID

    public init(_ uniqueID: UniqueID) {
        self.uniqueID = uniqueID
    }

    /// Reads the form of `rawValue`.
    public init?(_ text: String) {
        guard text.hasPrefix("grt_"), let uniqueID = UniqueID(text.dropFirst(4)) else { return nil }
        self.uniqueID = uniqueID
    }

    public var rawValue: String { uniqueID.text(prefix: "grt_") }
}
