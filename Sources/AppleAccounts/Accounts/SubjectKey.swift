/// One person as one team knows them. Accounts are keyed on this and never on an e-mail address.
public struct SubjectKey: Hashable, Sendable {
    public let team: TeamID
    public let subject: AppleSubject

    public init(team: TeamID, subject: AppleSubject) {
        (self.team, self.subject) = (team, subject)
    }
}

extension SubjectKey: Comparable {
    /// The order in which stores lock, so that two of them cannot wait for each other.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.team, lhs.subject) < (rhs.team, rhs.subject)
    }
}
