/// A user with an Apple Account.
public struct EmulatedUser: Sendable, Equatable, Codable {
    /// Identities by team, in the order of the configuration.
    public internal(set) var identities: [TeamIdentity]
    /// The real address. Tokens have the relay address instead when `hidesEmail` is set.
    public let email: String?
    public let isEmailVerified: Bool
    public internal(set) var hidesEmail: Bool
    public internal(set) var firstName: String?
    public internal(set) var lastName: String?
    /// Value of the claim: 0 unsupported, 1 unknown, 2 likely real; `nil` leaves the claim out.
    public internal(set) var realUserStatus: Int64?
    /// True if the relay address forwards e-mail.
    public internal(set) var forwardsEmail = true
    public internal(set) var isDeleted = false
    /// The primary client IDs of the apps that the user has signed in to and has not stopped using.
    public internal(set) var apps: Set<String> = []

    /// The apps in `apps` that did not request the e-mail address.
    public internal(set) var emailWithheldFrom: Set<String> = []

    /// The user's `sub` for the first configured team.
    public var subject: String { identities[0].subject }

    /// The user's identity for a team; for a team that is not configured, the first identity.
    public func identity(for teamID: String) -> TeamIdentity {
        identities.first { $0.teamID == teamID } ?? identities[0]
    }

    /// The address that a team's apps see.
    public func shownEmail(to identity: TeamIdentity) -> String? {
        hidesEmail ? identity.relayAddress : email
    }
}
