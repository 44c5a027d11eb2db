/// The fake world of `siwa dev` as its own pages use it: the fake Apple, the fake Google and the receivers of
/// events. Its people are invented, so the pages mask nothing.
public protocol FakeWorld: DevelopmentWorld {
    /// The client IDs of the app: the bundle ID first, then Services IDs.
    var clientIDs: [String] { get }
    /// False if Google's client is not configured.
    var hasGoogle: Bool { get }

    /// - Parameters:
    ///   - search: Words of the name, the address, the relay address or the user ID; empty for all people.
    ///   - offset: Number of people before the first of the page.
    func people(matching search: String, from offset: Int) -> WorldPeople
    /// Returns `nil` when there is no person with this user ID.
    func person(_ subject: String) -> WorldPerson?
    func makePerson(_ person: NewWorldPerson) throws -> WorldPerson
    func editPerson(_ subject: String, _ person: NewWorldPerson) throws
    func carryOut(_ action: WorldAction, of subject: String) async throws -> DevelopmentOutcome

    /// Apple's time in milliseconds since 1970, and by how many seconds it is ahead.
    var clock: (now: Int64, aheadBy: Int64) { get }
    func advanceClock(bySeconds seconds: Int64) throws

    var keys: [WorldKey] { get }
    func change(_ change: WorldKeyChange, of party: WorldExchange.Party, key: String?) async throws

    /// The links that the fake Google has made or tried, the oldest first; empty without Google's client.
    var links: [WorldLink] { get }
    /// Reports of siwa's that the fake Google has taken, the oldest first.
    var reports: [WorldReport] { get }
    /// Lets the fake Google use a link. Returns a sentence about the answer.
    func carryOut(_ use: WorldLinkUse, of link: String) async throws -> String

    /// The faults of `DevelopmentWorld`, by the party that has them.
    var faultGroups: [WorldFaultGroup] { get }

    var outbox: WorldOutbox { get }
    func holdNotifications(_ isHolding: Bool) throws
    /// Sends the held notifications, and returns their number.
    func releaseNotifications(_ order: WorldReleaseOrder) async -> Int

    /// The latest exchanges, the oldest first.
    var exchanges: [WorldExchange] { get }
}

/// Actions of a person. The raw value is the last part of the path of its form.
public enum WorldAction: String, Sendable, CaseIterable {
    case signInOnPhone = "sign-in-on-phone"
    case signInOnWeb = "sign-in-on-web"
    case linkWithGoogle = "link-with-google"
    case stopUsingApp = "stop-using-app"
    case changeForwarding = "change-forwarding"
    case changePassword = "change-password"
    case deleteAccount = "delete-account"

    var title: String {
        switch self {
        case .signInOnPhone: "Sign in on an iPhone"
        case .signInOnWeb: "Sign in on the web"
        case .linkWithGoogle: "Link with Google"
        case .stopUsingApp: "Stop using the app"
        case .changeForwarding: "Change e-mail forwarding"
        case .changePassword: "Change password"
        case .deleteAccount: "Delete Apple account"
        }
    }
}

/// A person with an Apple Account.
public struct WorldPerson: Sendable, Equatable {
    public let subject: String
    public let firstName: String?
    public let lastName: String?
    public let email: String?
    public let hidesEmail: Bool
    /// The addresses that the apps of each team see.
    public let relayAddresses: [String]
    public let forwardsEmail: Bool
    public let realUserStatus: Int64?
    /// The apps that the person uses.
    public let apps: [String]
    public let isDeleted: Bool

    public init(
        subject: String, firstName: String?, lastName: String?, email: String?, hidesEmail: Bool,
        relayAddresses: [String], forwardsEmail: Bool, realUserStatus: Int64?, apps: [String], isDeleted: Bool
    ) {
        (self.subject, self.firstName, self.lastName) = (subject, firstName, lastName)
        (self.email, self.hidesEmail, self.relayAddresses) = (email, hidesEmail, relayAddresses)
        (self.forwardsEmail, self.realUserStatus) = (forwardsEmail, realUserStatus)
        (self.apps, self.isDeleted) = (apps, isDeleted)
    }

    public var name: String {
        let name = [firstName, lastName].compactMap { $0 }.joined(separator: " ")
        return name.isEmpty ? "No name" : name
    }
}

/// One page of people, newest first.
public struct WorldPeople: Sendable {
    /// People on a page.
    public static let size = 25

    public let people: [WorldPerson]
    /// Number of people that the search has found.
    public let found: Int
    public let offset: Int

    public init(_ people: [WorldPerson], found: Int, offset: Int) {
        (self.people, self.found, self.offset) = (people, found, offset)
    }
}

/// A person to make, or the new values of a person.
public struct NewWorldPerson: Sendable, Equatable {
    public var firstName: String?
    public var lastName: String?
    /// `nil` for an address of the name. An address cannot be changed later.
    public var email: String?
    public var hidesEmail = false
    /// 0 unsupported, 1 unknown, 2 likely real; `nil` leaves the claim out.
    public var realUserStatus: Int64? = 2

    public init() {}
}
