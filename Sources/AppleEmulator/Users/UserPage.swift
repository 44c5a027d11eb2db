/// The users that one page shows: of those that the search finds the newest first, so many at a time.
struct UserPage {
    static let size = 20
    /// So that a search stays cheap.
    static let longestSearch = 320

    let users: [EmulatedUser]
    /// How many the search found.
    let found: Int
    /// How many of them are newer than the first one shown.
    let offset: Int
    /// Empty when all users are meant.
    let search: String

    /// - Parameters:
    ///   - all: oldest first.
    ///   - offset: moved back to the last page when there are fewer.
    init(of all: [EmulatedUser], search: String = "", offset: Int = 0) {
        let words = search.lowercased().split(separator: " ")
        let matching = all.reversed().filter { user in words.isEmpty || Self.has(user, all: words) }
        let lastOffset = matching.isEmpty ? 0 : (matching.count - 1) / Self.size * Self.size
        (found, self.offset, self.search) = (matching.count, min(max(0, offset), lastOffset), search)
        users = Array(matching.dropFirst(self.offset).prefix(Self.size))
    }

    var newer: Int? { offset > 0 ? max(0, offset - Self.size) : nil }
    var older: Int? { offset + Self.size < found ? offset + Self.size : nil }

    /// Every word must be part of the name or the address. The user IDs and relay addresses are looked into as well, but for
    /// a short word only as a whole: their random letters and digits have every short word in them somewhere.
    private static func has(_ user: EmulatedUser, all words: [Substring]) -> Bool {
        let known = [user.firstName, user.lastName, user.email].compactMap { $0?.lowercased() }
        let given = user.identities.flatMap { [$0.relayAddress.lowercased(), $0.subject.lowercased()] }
        return words.allSatisfy { word in
            known.contains { $0.contains(word) }
                || given.contains { word.utf8.count < shortestPart ? $0 == word : $0.contains(word) }
        }
    }

    /// The fewest bytes of a user ID that a search finds it by.
    private static let shortestPart = 6
}

extension UserPage {
    /// Reads `find` and `from`, the fields of the pages' own forms. Throws `invalid_request` for what they cannot hold.
    init(of all: [EmulatedUser], _ form: FormFields) throws(OAuthRefusal) {
        let search = form["find"] ?? ""
        guard search.utf8.count <= Self.longestSearch else {
            throw OAuthRefusal(.invalidRequest, "a search has at most \(Self.longestSearch) bytes")
        }
        guard let offset = Int(form["from"] ?? "0") else {
            throw OAuthRefusal(.invalidRequest, "from is no number")
        }
        self.init(of: all, search: search, offset: offset)
    }

    /// Where the page of all accounts shows these.
    var location: String {
        let query = fields.map { "\($0.name)=\(AuthorizeAnswer.escape($0.value))" }.joined(separator: "&")
        return query.isEmpty ? "/" : "/?\(query)"
    }

    /// The fields that lead back to this page.
    var fields: [(name: String, value: String)] {
        (search.isEmpty ? [] : [("find", search)]) + (offset == 0 ? [] : [("from", String(offset))])
    }
}
