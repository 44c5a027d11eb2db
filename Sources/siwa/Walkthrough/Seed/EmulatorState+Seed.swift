import AppleEmulator

extension EmulatorState {
    /// Makes the people of a file. A person who is there from an earlier run, with the same user ID or the same
    /// address, stays as it is.
    ///
    /// - Returns: The user IDs of the people who sign in at the start, of those who do not use the app yet.
    func seed(_ file: SeedFile) throws -> [String] {
        var subjects: [String: EmulatedUser] = [:]
        var addresses: [String: EmulatedUser] = [:]
        for user in users {
            subjects[user.subject] = user
            if let email = user.email { addresses[email.lowercased()] = user }
        }
        var signingIn: [String] = []
        for person in file.people {
            var known = person.recipe.subject.flatMap { subjects[$0] }
            if known == nil, case .given(let email) = person.recipe.email {
                known = addresses[email.lowercased()]
            }
            let user = try known ?? makeUser(person.recipe)
            if person.signsIn, user.apps.isEmpty, !user.isDeleted { signingIn.append(user.subject) }
        }
        return signingIn
    }
}
