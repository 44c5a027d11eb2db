import Encodings

/// One user in a list: a circle with the initials, the name and the address.
enum UserLine {
    static func html(_ user: EmulatedUser, tag: String = "") -> String {
        """
        <span class="face" aria-hidden="true">\(initials(user).htmlEscaped)</span>\
        <span class="who"><b>\(name(user).htmlEscaped)</b>\
        <span>\((user.email ?? "no e-mail address").htmlEscaped)</span></span>\
        \(tag.isEmpty ? "" : "<span class=\"tag\">\(tag.htmlEscaped)</span>")
        """
    }

    static func name(_ user: EmulatedUser) -> String {
        let name = [user.firstName, user.lastName].compactMap { $0 }.joined(separator: " ")
        return name.isEmpty ? "No name" : name
    }

    private static func initials(_ user: EmulatedUser) -> String {
        let letters = [user.firstName, user.lastName].compactMap { $0?.first.map { String($0) } }
        return letters.isEmpty ? "?" : letters.joined()
    }
}
