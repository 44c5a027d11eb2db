import Cryptography
import Encodings

/// Everybody with an emulated Apple Account. Pure: it asks nobody, and the shell locks it.
struct UserDirectory: Codable {
    /// So that a runaway script cannot fill the memory.
    static let capacity = 10_000
    /// Stands for the first user in every place where a `sub` is asked for.
    static let defaultName = "default"

    private var teamIDs: [String]
    private(set) var users: [EmulatedUser] = []
    /// Positions in `users` by the `sub` of each team.
    private var positions: [String: Int] = [:]
    /// The real addresses of all users, in small letters.
    private var addresses: Set<String> = []

    /// Starts with the default user, who has the same `sub` in every run: a service that kept its database
    /// knows the person again.
    init(teamIDs: [String]) {
        self.teamIDs = teamIDs
        let seed = Array("default user".utf8)
        insert(user(UserRecipe(), identities: teamIDs.map { TeamIdentity(teamID: $0, seed: seed) }))
    }

    /// Throws `.tooManyUsers`, and `.userExists` when the recipe names a taken `sub`.
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

    /// The position and the team of whoever has this `sub`. Throws `.userNotFound`.
    func find(_ subject: String?) throws(EmulatorError) -> (position: Int, identity: TeamIdentity) {
        guard let subject, subject != Self.defaultName else { return (0, users[0].identities[0]) }
        guard let position = positions[subject],
            let identity = users[position].identities.first(where: { $0.subject.isByteEqual(to: subject) })
        else {
            throw EmulatorError(.userNotFound)
        }
        return (position, identity)
    }

    /// Gives everybody an identity in a team that they have none in yet. The same person gets the same one in every run.
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
    /// The addresses follow from the users, so they are in no state file.
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
