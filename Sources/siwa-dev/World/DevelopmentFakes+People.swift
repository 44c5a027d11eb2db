import AppleEmulator
import Composition
import Console
import EmulatorServer
import GoogleEmulator

extension DevelopmentFakes {
    func people(matching search: String, from offset: Int) -> WorldPeople {
        let words = search.lowercased().split(separator: " ")
        let found = apple.state.users.reversed().filter { user in
            let texts =
                [user.firstName, user.lastName, user.email].compactMap { $0 }
                + user.identities.flatMap { [$0.relayAddress, $0.subject] }
            return words.allSatisfy { word in texts.contains { $0.lowercased().contains(word) } }
        }
        let last = found.isEmpty ? 0 : (found.count - 1) / WorldPeople.size * WorldPeople.size
        let start = min(max(0, offset), last)
        let people = found.dropFirst(start).prefix(WorldPeople.size).map { WorldPerson($0) }
        return WorldPeople(people, found: found.count, offset: start)
    }

    func person(_ subject: String) -> WorldPerson? {
        (try? apple.state.user(subject)).map { WorldPerson($0) }
    }

    func makePerson(_ person: NewWorldPerson) throws -> WorldPerson {
        var recipe = UserRecipe()
        (recipe.firstName, recipe.lastName) = (person.firstName, person.lastName)
        (recipe.hidesEmail, recipe.realUserStatus) = (person.hidesEmail, person.realUserStatus)
        if let email = person.email { recipe.email = .given(email) }
        return WorldPerson(try make(recipe))
    }

    func make(_ recipe: UserRecipe) throws -> EmulatedUser {
        try Self.explained { try apple.state.makeUser(recipe) }
    }

    func editPerson(_ subject: String, _ person: NewWorldPerson) throws {
        try Self.explained {
            var edit = UserEdit(try apple.state.user(subject))
            (edit.firstName, edit.lastName) = (person.firstName, person.lastName)
            (edit.hidesEmail, edit.realUserStatus) = (person.hidesEmail, person.realUserStatus)
            try apple.state.edit(subject, edit)
        }
    }
}

extension WorldPerson {
    init(_ user: EmulatedUser) {
        self.init(
            subject: user.subject, firstName: user.firstName, lastName: user.lastName, email: user.email,
            hidesEmail: user.hidesEmail, relayAddresses: user.identities.map(\.relayAddress),
            forwardsEmail: user.forwardsEmail, realUserStatus: user.realUserStatus,
            apps: user.apps.sorted(), isDeleted: user.isDeleted)
    }
}

extension UserRecipe {
    /// The name of the user whom every fake Apple has.
    static let usual = "default"
}

/// Names of people who are made by a button.
enum InventedName {
    private static let first = [
        "Nora", "Emil", "Aylin", "Jan", "Layla", "Tomasz", "Mei", "Samuel", "Ines", "Ravi", "Zofia", "Omar",
    ]
    private static let last = ["Quist", "Berg", "Demir", "Nowak", "Haddad", "Silva", "Tanaka"]

    static func number(_ number: Int) -> (first: String, last: String) {
        // 12 and 7 have no common divisor, so 84 people have different names.
        (first[number % first.count], last[number % last.count])
    }
}

extension EmulatorError {
    /// The reason as a sentence for the developer. Reasons that no form of the console can cause have their code.
    var sentence: String {
        switch code {
        case .keyNotFound: "The key is not there any more. Load the page again."
        case .tooManyKeys: "There are as many keys as the fake keeps. Retire one first."
        case .noSigningKey: "All keys are retired, so nothing can be signed. Let a key sign first."
        case .userNotFound: "There is no such person any more."
        case .userExists: "A person with this user ID or address exists already."
        case .tooManyUsers: "There are as many people as the fake Apple keeps."
        case .clientIDUnknown: "The fake Apple does not know the client ID of the app."
        case .notificationURLMissing: "The fake Apple does not know where to send notifications."
        case .linkNotFound: "There is no such link any more."
        case .tokenMissing: "The link has no token for this: it was never made, or has ended."
        case .serverMissing: "The fake Google does not know the service yet."
        case .memberMalformed, .characterNotAllowed:
            "A value cannot be used" + (detail.isEmpty ? "." : ": \(detail).")
        case _:
            "Not possible: \(code.name.split(separator: "_").joined(separator: " "))"
                + (detail.isEmpty ? "." : " (\(detail)).")
        }
    }
}
