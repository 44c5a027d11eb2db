import Cryptography
import EmulatorServer
import Encodings

/// All emulated users. Does no I/O. Not thread-safe, so its owner locks it.
struct UserDirectory: Codable {
    /// Maximum number of users, so that a faulty script cannot fill the memory.
    static let capacity = 10_000
    /// The first user's name, accepted in place of a `sub`.
    static let defaultName = "default"

    private var teamIDs: [String]
    private(set) var users: [EmulatedUser] = []
    /// Positions in `users`, by each team's `sub`.
    private var positions: [String: Int] = [:]
    /// All users' real addresses in lower case.
    private var addresses: Set<String> = []

    /// Creates the default user. The user's `sub` is the same in every run, so that a service with an old
    /// database recognizes the user.
    init(teamIDs: [String]) {
        self.teamIDs = teamIDs
        let seed = Array("default user".utf8)
        insert(user(UserRecipe(), identities: teamIDs.map { TeamIdentity(teamID: $0, seed: seed) }))
    }

    /// Creates a user. Throws `.tooManyUsers`, and `.userExists` if the `sub` is already used.
    mutating func make(_ recipe: UserRecipe) throws(EmulatorError) -> EmulatedUser {
        guard users.count < Self.capacity else {
            throw EmulatorError(.tooManyUsers, detail: "at most \(Self.capacity)")
        }
        let seed = SecureRandom.bytes(count: 32)
        var identities = teamIDs.map { TeamIdentity(teamID: $0, seed: seed) }
        if let subject = recipe.subject {
            guard positions[subject] == nil, subject != Self.defaultName else {
                throw EmulatorError(.userExists)
            }
            identities[0] = TeamIdentity(
                teamID: identities[0].teamID, subject: subject, relayAddress: identities[0].relayAddress)
        }
        return insert(user(recipe, identities: identities))
    }

    /// Returns the position of the user with this `sub`, and the matching identity. Throws `.userNotFound` if
    /// there is no such user.
    func find(_ subject: String?) throws(EmulatorError) -> (position: Int, identity: TeamIdentity) {
        guard let subject, subject != Self.defaultName else { return (0, users[0].identities[0]) }
        guard let position = positions[subject],
            let identity = users[position].identities.first(where: { $0.subject.isByteEqual(to: subject) })
        else {
            throw EmulatorError(.userNotFound)
        }
        return (position, identity)
    }

    /// Gives all users an identity for a new team. Each user gets the same identity in every run.
    mutating func addTeam(_ teamID: String) {
        guard !teamIDs.contains(teamID) else { return }
        teamIDs.append(teamID)
        for index in users.indices {
            let identity = TeamIdentity(teamID: teamID, seed: Array(users[index].subject.utf8))
            users[index].identities.append(identity)
            positions[identity.subject] = index
        }
    }

    subscript(position: Int) -> EmulatedUser {
        get { users[position] }
        set { users[position] = newValue }
    }

    @discardableResult private mutating func insert(_ user: EmulatedUser) -> EmulatedUser {
        for identity in user.identities { positions[identity.subject] = users.count }
        users.append(user)
        if let email = user.email { addresses.insert(email.lowercased()) }
        return user
    }

    private func user(_ recipe: UserRecipe, identities: [TeamIdentity]) -> EmulatedUser {
        let email: String? =
            switch recipe.email {
            case .none: nil
            case .given(let address): address
            case .derived:
                DerivedAddress.make(
                    firstName: recipe.firstName, lastName: recipe.lastName, number: users.count + 1,
                    isTaken: addresses.contains)
            }
        return EmulatedUser(
            identities: identities, email: email, isEmailVerified: recipe.isEmailVerified,
            hidesEmail: recipe.hidesEmail, firstName: recipe.firstName, lastName: recipe.lastName,
            realUserStatus: recipe.realUserStatus)
    }
}

extension UserDirectory {
    /// State file members. They do not include the addresses, which are derived from the users.
    private enum CodingKeys: String, CodingKey {
        case teamIDs, users, positions
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        teamIDs = try container.decode([String].self, forKey: .teamIDs)
        users = try container.decode([EmulatedUser].self, forKey: .users)
        positions = try container.decode([String: Int].self, forKey: .positions)
        addresses = Set(users.compactMap { $0.email?.lowercased() })
    }
}

/// The properties of a new user. The defaults are suitable for a first trial.
public struct UserRecipe: Sendable {
    /// The user's `sub` for the first team. Default: a random `sub` in Apple's format.
    public var subject: String?
    public var email = RecipeAddress.derived
    public var isEmailVerified = true
    public var hidesEmail = false
    public var firstName: String? = "Jane"
    public var lastName: String? = "Appleseed"
    public var realUserStatus: Int64? = 2

    public init() {}
}

/// Changes to a user. An app receives a new name only after the user has stopped using it.
public struct UserEdit: Sendable {
    public var firstName: String?
    public var lastName: String?
    public var hidesEmail: Bool
    public var realUserStatus: Int64?

    /// Creates an edit with the user's current values.
    public init(_ user: EmulatedUser) {
        (firstName, lastName) = (user.firstName, user.lastName)
        (hidesEmail, realUserStatus) = (user.hidesEmail, user.realUserStatus)
    }
}

/// A new user's e-mail address.
public enum RecipeAddress: Sendable, Equatable {
    /// A unique address, made from the name or the user's number.
    case derived
    case none
    /// Uses this address.
    case given(String)
}

/// Generates an e-mail address for a user who was created without one.
enum DerivedAddress {
    /// Returns `first.last@example.com` if this address is unused, otherwise adds the user's number to the
    /// name. If the name has letters other than a to z, returns `user.<number>` at the same domain.
    static func make(
        firstName: String?, lastName: String?, number: Int, isTaken: (String) -> Bool
    ) -> String {
        let name = localPart(firstName, lastName)
        if let name, !isTaken("\(name)@example.com") { return "\(name)@example.com" }
        var number = number
        // Another user may have this address. The loop ends because there are more numbers than users.
        while isTaken(numbered(name, number)) { number += 1 }
        return numbered(name, number)
    }

    private static func numbered(_ name: String?, _ number: Int) -> String {
        "\(name ?? "user").\(number)@example.com"
    }

    /// Returns the name's words in lower case, separated by dots.
    private static func localPart(_ names: String?...) -> String? {
        let text = names.compactMap { $0 }.joined(separator: " ").lowercased()
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let words = text.split { !($0.isLetter || $0.isNumber) }.joined(separator: ".")
        // The local part, including the number, may have at most 64 characters (RFC 5321 §4.5.3.1.1).
        return words.isEmpty || words.utf8.count > 58 ? nil : words
    }
}
