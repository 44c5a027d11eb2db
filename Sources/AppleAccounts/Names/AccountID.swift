/// Our own, opaque name of an account: "acc_" and a UUID of version 7.
///
/// It says nothing about the person, and it stays when Apple's `sub` changes with the team.
public struct AccountID: Hashable, Sendable {
    public let uniqueID: UniqueID

    public init(_ uniqueID: UniqueID) {
        self.uniqueID = uniqueID
    }

    /// Reads what `rawValue` writes. Anything else names no account.
    public init?(_ text: String) {
        guard text.hasPrefix("acc_"), let uniqueID = UniqueID(text.dropFirst(4)) else { return nil }
        self.uniqueID = uniqueID
    }

    public var rawValue: String { uniqueID.text(prefix: "acc_") }
}
