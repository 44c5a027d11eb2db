import Cryptography
import EmulatorServer
import Encodings

/// All emulated users. Pure: no I/O; its owner locks it.
struct UserDirectory: Codable {
    /// Largest number of users, so that a faulty script cannot fill the memory.
    static let capacity = 10_000
    /// The name of the first user, accepted in place of a `sub`.
    static let defaultName = "default"

    private var teamIDs: [String]
    private(set) var users: [EmulatedUser] = []
    /// Positions in `users` by the `sub` of each team.
    private var positions: [String: Int] = [:]
    /// The real addresses of all users, in lower case.
    private var addresses: Set<String> = []

    /// Creates the default user. The user's `sub` is the same in every run, so that a service with an old
    /// database recognizes the user.
    init(teamIDs: [String]) {
        self.teamIDs = teamIDs
        let seed = Array("default user".utf8)
        insert(user(UserRecipe(), identities: teamIDs.map { TeamIdentity(teamID: $0, seed: seed) }))
    }

    /// Throws `.tooManyUsers`, and `.userExists` when the `sub` is already used.
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

    /// Returns the position of the user with this `sub`, and the identity for the team. Throws
    /// `.userNotFound`.
    func find(_ subject: String?) throws(EmulatorError) -> (position: Int, identity: TeamIdentity) {
        guard let subject, subject != Self.defaultName else { return (0, users[0].identities[0]) }
        guard let position = positions[subject],
            let identity = users[position].identities.first(where: { $0.subject.isByteEqual(to: subject) })
        else {
            throw EmulatorError(.userNotFound)
        }
        return (position, identity)
    }

    /// Adds an identity for a new team to all users. A user gets the same identity in every run.
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
    /// Members of the state file, without the addresses, which are derived from the users.
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
