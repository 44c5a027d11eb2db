import EmulatorServer
import Pages

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

extension UserPage {
    /// The search field above a list of users, as a form without scripts; `nil` while all users fit on one page.
    ///
    /// - Parameters:
    ///   - method: `get` or `post`.
    ///   - hidden: Hidden fields of the form.
    func searchForm(_ method: String, _ action: String, hidden: [(name: String, value: String)] = []) -> HTML?
    {
        guard found > Self.size || !search.isEmpty else { return nil }
        return HTML {
            """
            <form class="search" method="\(method)" action="\(action)" role="search">\(HTML.hidden(hidden))\
            <input type="search" name="find" aria-label="Name, e-mail address or user ID" \
            placeholder="Name, e-mail or ID" maxlength="100" value="\(search)"><button>Search</button></form>
            """
            if found == 0 { "<p>No account has this text in its name, addresses or user ID.</p>" }
        }
    }

    /// The links to other pages below the list, as a form without scripts; `nil` for a single page.
    func pager(_ method: String, _ action: String, hidden: [(name: String, value: String)] = []) -> HTML? {
        guard newer != nil || older != nil else { return nil }
        func button(_ words: String, from offset: Int?) -> HTML {
            let target: HTML = offset.map { " name=\"from\" value=\"\($0)\"" } ?? " disabled"
            return "<button\(target)>\(words)</button>"
        }
        // The other pages keep the search.
        let fields = hidden + (search.isEmpty ? [] : [("find", search)])
        return """
            <form class="pager" method="\(method)" action="\(action)">\(HTML.hidden(fields))
            \(button("Newer", from: newer))<span>\(offset + 1) to \(offset + users.count) of \(found)</span>
            \(button("Older", from: older))</form>
            """
    }
}

extension EmulatedUser {
    /// First and last name, for a page.
    var shownName: String {
        let name = [firstName, lastName].compactMap { $0 }.joined(separator: " ")
        return name.isEmpty ? "No name" : name
    }

    /// A circle with the initials, the name and the address.
    var line: HTML {
        let initials = [firstName, lastName].compactMap { $0?.first.map { String($0) } }.joined()
        return """
            <span class="face" aria-hidden="true">\(initials.isEmpty ? "?" : initials)</span>\
            <span class="who"><b>\(shownName)</b><span>\(email ?? "no e-mail address")</span></span>
            """
    }
}
