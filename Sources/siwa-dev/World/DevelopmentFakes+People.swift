import AppleEmulator
import EmulatorServer
import GoogleEmulator

extension DevelopmentFakes {
    /// The people that a search finds, newest first.
    ///
    /// - Parameter search: Words of the name, the address, the relay address or the user ID; empty for all people.
    func people(matching search: String) -> [EmulatedUser] {
        apple.state.users.reversed().filter { $0.matches(search) }
    }

    /// Returns `nil` if no person has this user ID.
    func person(_ subject: String) -> EmulatedUser? { try? apple.state.user(subject) }

    func make(_ recipe: UserRecipe) throws -> EmulatedUser {
        try Self.explained { try apple.state.makeUser(recipe) }
    }

    /// Gives a person the values of a recipe. An address cannot be changed.
    func edit(_ subject: String, _ recipe: UserRecipe) throws {
        try Self.explained {
            var edit = UserEdit(try apple.state.user(subject))
            (edit.firstName, edit.lastName) = (recipe.firstName, recipe.lastName)
            (edit.hidesEmail, edit.realUserStatus) = (recipe.hidesEmail, recipe.realUserStatus)
            try apple.state.edit(subject, edit)
        }
    }
}

extension UserRecipe {
    /// Name of the user that every fake Apple has.
    static let usual = "default"
}

/// Names of people made by a button.
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
    /// The reason as a sentence for the developer. Reasons that
    /// no form of the console can cause are shown as their code.
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
