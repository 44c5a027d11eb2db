/// One user in a list: a circle with the initials, the name and the address.
struct UserLine {
    private let initials: String
    private let name: String
    private let email: String
    private let tag: String?

    init(_ user: EmulatedUser, tag: String? = nil) {
        let letters = [user.firstName, user.lastName].compactMap { $0?.first.map { String($0) } }
        initials = letters.isEmpty ? "?" : letters.joined()
        (name, email) = (Self.name(user), user.email ?? "no e-mail address")
        self.tag = tag
    }

    static func name(_ user: EmulatedUser) -> String {
        let name = [user.firstName, user.lastName].compactMap { $0 }.joined(separator: " ")
        return name.isEmpty ? "No name" : name
    }
}
