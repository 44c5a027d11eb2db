import Cryptography
import EmulatorServer
import Encodings
public import StrictJSON

/// A user with an Apple Account.
public struct EmulatedUser: Sendable, Equatable, Codable {
    /// The user's identity for each team, in configuration order.
    public internal(set) var identities: [TeamIdentity]
    /// The real address. If `hidesEmail` is set, tokens contain the relay address instead.
    public let email: String?
    public let isEmailVerified: Bool
    public internal(set) var hidesEmail: Bool
    public internal(set) var firstName: String?
    public internal(set) var lastName: String?
    /// Value of `real_user_status`: 0 unsupported, 1 unknown, 2 likely real; `nil` omits the claim.
    public internal(set) var realUserStatus: Int64?
    /// True if e-mail to the relay address is forwarded.
    public internal(set) var forwardsEmail = true
    public internal(set) var isDeleted = false
    /// Primary client IDs of the apps that the user has signed in to and still uses.
    public internal(set) var apps: Set<String> = []

    /// The apps in `apps` that did not request the e-mail address.
    public internal(set) var emailWithheldFrom: Set<String> = []

    /// The user's `sub` for the first configured team.
    public var subject: String { identities[0].subject }

    /// Returns the user's identity for a team, or the first identity if the team is not configured.
    public func identity(for teamID: String) -> TeamIdentity {
        identities.first { $0.teamID == teamID } ?? identities[0]
    }

    /// Returns the address that a team's apps receive.
    public func shownEmail(to identity: TeamIdentity) -> String? {
        hidesEmail ? identity.relayAddress : email
    }
}

/// A user's identity for one developer team. Each team gets a different `sub` and relay address.
public struct TeamIdentity: Sendable, Equatable, Codable {
    public let teamID: String
    /// Value of `sub`, in the format `NNNNNN.<32 hex>.NNNN`.
    public let subject: String
    /// An address at `privaterelay.appleid.com` that forwards to the user's real address.
    public let relayAddress: String

    public init(teamID: String, subject: String, relayAddress: String) {
        (self.teamID, self.subject, self.relayAddress) = (teamID, subject, relayAddress)
    }

    /// Derives an identity in Apple's format from `seed`: the same seed gives the same identity.
    init(teamID: String, seed: [UInt8]) {
        let digest = SHA256Digest.hash(Array(teamID.utf8) + [0] + seed)
        let hex = Hexadecimal.encode(digest[0..<16])
        let relay = digest[20..<30].map { Self.relayCharacters[Int($0) % Self.relayCharacters.count] }
        let (first, last) = (
            Self.digits(of: digest[16...17], count: 6), Self.digits(of: digest[18...19], count: 4)
        )
        self.init(
            teamID: teamID, subject: "\(first).\(hex).\(last)",
            relayAddress: "\(String(decoding: relay, as: UTF8.self))@privaterelay.appleid.com")
    }

    /// Returns the user's transfer identifier for another team in Apple's format: `NNNNNN.r<32 hex>`, which
    /// starts with the first block of the `sub` and has no third block.
    func transferSubject(to recipient: String) -> String {
        let digest = SHA256Digest.hash("\(teamID) to \(recipient)\u{0}\(subject)")
        let block = subject.utf8.prefix { $0 != UInt8(ascii: ".") }
        let isApples =
            block.count == 6 && block.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let first = isApples ? String(subject.prefix(6)) : Self.digits(of: digest[16...17], count: 6)
        return "\(first).r\(Hexadecimal.encode(digest[0..<16]))"
    }

    /// Returns digits that look like Apple's: the first block is a small number (observed values: 000685 to
    /// 002024), and the last block looks like a time of day.
    private static func digits(of bytes: some Collection<UInt8>, count: Int) -> String {
        let number = bytes.reduce(0) { $0 << 8 | Int($1) } % 2400
        let text = String(number)
        return String(repeating: "0", count: count - text.utf8.count) + text
    }

    private static let relayCharacters = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)
}

extension EmulatedUser: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("sub", "The user ID for the apps of the first team.") { $0.subject }
        member("identities", "One for each team.") { $0.identities }
        member("email_verified") { $0.isEmailVerified }
        member("hide_email", "True if apps get the relay address.") { $0.hidesEmail }
        member("email_forwarding", ["enum": ["enabled", "disabled"]]) {
            $0.forwardsEmail ? "enabled" : "disabled"
        }
        member("is_deleted") { $0.isDeleted }
        member("apps", "The first client IDs of the apps that the user uses.") { $0.apps.sorted() }
        member("email", "The real address.") { $0.email }
        member("first_name") { $0.firstName }
        member("last_name") { $0.lastName }
        member("real_user_status", .within(0...2, "0 unsupported, 1 unknown, 2 likely real.")) {
            $0.realUserStatus
        }
    }
}

extension TeamIdentity: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("team_id") { $0.teamID }
        member("sub", "The user ID for the apps of this team.") { $0.subject }
        member("relay_email") { $0.relayAddress }
    }
}

extension UserGrants: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("client_id") { $0.clientID }
        member("codes", "Codes that have not been exchanged, including expired codes.") { $0.codes }
        member("refresh_tokens", "Valid refresh tokens.") { $0.refreshTokens }
        member("exchanges", "Exchanged codes.") { $0.exchanges }
        member("refreshes", "Successful validations of refresh tokens.") { $0.refreshes }
        member("throttled", "Throttled validations of refresh tokens.") { $0.throttled }
    }
}
