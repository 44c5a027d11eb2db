/// A person with an Apple Account.
public struct EmulatedUser: Sendable, Equatable, Codable {
    /// One identity per team, in the order of the configuration.
    public internal(set) var identities: [TeamIdentity]
    /// The real address. Tokens carry the relay address instead when `hidesEmail` is set.
    public let email: String?
    public let isEmailVerified: Bool
    public internal(set) var hidesEmail: Bool
    public internal(set) var firstName: String?
    public internal(set) var lastName: String?
    /// 0 unsupported, 1 unknown, 2 likely real; `nil` leaves the claim out.
    public let realUserStatus: Int64?
    /// Whether the relay address forwards at present.
    public internal(set) var forwardsEmail = true
    public internal(set) var isDeleted = false
    /// Primary client IDs of the apps that the person uses: signed in to, and not stopped since.
    public internal(set) var apps: Set<String> = []

    /// Those of them that did not ask for the e-mail address.
    public internal(set) var emailWithheldFrom: Set<String> = []

    /// What the first configured team knows the person as.
    public var subject: String { identities[0].subject }

    /// The identity for a team; for a team that is not configured, the first one.
    public func identity(for teamID: String) -> TeamIdentity {
        identities.first { $0.teamID == teamID } ?? identities[0]
    }

    /// The address that a team's apps are shown.
    public func shownEmail(to identity: TeamIdentity) -> String? {
        hidesEmail ? identity.relayAddress : email
    }
}
