import Cryptography
import Encodings

/// A user's identity within one team. Accounts are keyed on it and never on an e-mail address.
public struct SubjectKey: Hashable, Sendable {
    public let team: TeamID
    public let subject: AppleSubject

    public init(team: TeamID, subject: AppleSubject) {
        (self.team, self.subject) = (team, subject)
    }
}

extension SubjectKey: Comparable {
    /// The order in which stores lock, so that two stores cannot wait for each other.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.team, lhs.subject) < (rhs.team, rhs.subject)
    }
}

extension SubjectKey {
    /// Replacement of the `sub` after an erasure: U+0001, which no `sub` can have, and the SHA-256 of team,
    /// line feed and `sub`. The `sub` leads to the tombstone, but cannot be computed from it.
    public var tombstoneName: String {
        let bytes = Array(team.rawValue.utf8) + [UInt8(ascii: "\n")] + Array(subject.rawValue.utf8)
        return "\u{1}" + Hexadecimal.encode(SHA256Digest.hash(bytes))
    }
}
