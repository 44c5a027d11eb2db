import EmulatorServer

/// One page of the users that a search finds, newest first.
struct UserPage {
    static let size = 20
    /// Bytes of a search, at most. Limits the cost of a search.
    static let longestSearch = 320

    let users: [EmulatedUser]
    /// The number of users that the search found.
    let found: Int
    /// The number of found users before the first user of this page.
    let offset: Int
    /// Search words; empty for all users.
    let search: String

    /// - Parameters:
    ///   - all: The users, oldest first.
    ///   - offset: Limited to the last page.
    init(of all: [EmulatedUser], search: String = "", offset: Int = 0) {
        let words = search.lowercased().split(separator: " ")
        let matching = all.reversed().filter { user in words.isEmpty || Self.has(user, all: words) }
        let lastOffset = matching.isEmpty ? 0 : (matching.count - 1) / Self.size * Self.size
        (found, self.offset, self.search) = (matching.count, min(max(0, offset), lastOffset), search)
        users = Array(matching.dropFirst(self.offset).prefix(Self.size))
    }

    var newer: Int? { offset > 0 ? max(0, offset - Self.size) : nil }
    var older: Int? { offset + Self.size < found ? offset + Self.size : nil }

    /// True if every word is part of the name or the address. User IDs and relay addresses are also searched,
    /// but a short word must match the whole value, because their random characters contain almost every
    /// short word.
    private static func has(_ user: EmulatedUser, all words: [Substring]) -> Bool {
        let known = [user.firstName, user.lastName, user.email].compactMap { $0?.lowercased() }
        let given = user.identities.flatMap { [$0.relayAddress.lowercased(), $0.subject.lowercased()] }
        return words.allSatisfy { word in
            known.contains { $0.contains(word) }
                || given.contains { word.utf8.count < shortestPart ? $0 == word : $0.contains(word) }
        }
    }

    /// The shortest part of a user ID, in bytes, that a search finds.
    private static let shortestPart = 6
}

extension UserPage {
    /// Reads `find` and `from`, the fields of the pages' forms. Throws `invalid_request` for invalid values.
    init(of all: [EmulatedUser], _ form: FormFields) throws(OAuthError) {
        let search = form["find"] ?? ""
        guard search.utf8.count <= Self.longestSearch else {
            throw OAuthError(.invalidRequest, "a search must have at most \(Self.longestSearch) bytes")
        }
        guard let offset = Int(form["from"] ?? "0") else {
            throw OAuthError(.invalidRequest, "from must be a number")
        }
        self.init(of: all, search: search, offset: offset)
    }

    /// The path of this page of accounts.
    var location: String {
        let query = fields.map { "\($0.name)=\(AuthorizationResponse.escape($0.value))" }.joined(
            separator: "&")
        return query.isEmpty ? "/" : "/?\(query)"
    }

    /// The form fields that select this page.
    var fields: [(name: String, value: String)] {
        (search.isEmpty ? [] : [("find", search)]) + (offset == 0 ? [] : [("from", String(offset))])
    }
}

/// The search field above a list of users, and the links to other pages below the list, as forms without
/// scripts.
struct UserPageControls {
    private let method: String
    private let action: String
    private let hidden: [PageField]
    private let find: String
    /// False while all users fit on one page.
    private let hasSearch: Bool
    private let isEmpty: Bool
    private let hasPager: Bool
    /// The search, which the other pages keep.
    private let findAgain: String?
    private let newer: Int?
    private let older: Int?
    private let range: String

    /// - Parameters:
    ///   - method: `get` or `post`.
    ///   - hidden: Hidden fields of the forms.
    init(page: UserPage, method: String, action: String, hidden: [PageField] = []) {
        (self.method, self.action, self.hidden) = (method, action, hidden)
        (find, findAgain) = (page.search, page.search.isEmpty ? nil : page.search)
        (hasSearch, isEmpty) = (page.found > UserPage.size || !page.search.isEmpty, page.found == 0)
        (newer, older) = (page.newer, page.older)
        hasPager = page.newer != nil || page.older != nil
        range = "\(page.offset + 1) to \(page.offset + page.users.count) of \(page.found)"
    }
}

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
