import Encodings
import Pages

/// One page of the users who match a search, newest first.
struct UserPage {
    private static let size = 20
    /// Maximum search length in bytes. It limits the cost of a search.
    private static let longestSearch = 320

    let users: [EmulatedUser]
    /// Number of users who match the search.
    private let found: Int
    private let place: ListPlace
    /// Search words; empty for all users.
    private let search: String

    /// Reads the form fields `find` and `from`. Throws `invalid_request` for invalid values.
    ///
    /// - Parameter all: The users, oldest first.
    init(of all: [EmulatedUser], _ form: FormFields? = nil) throws(OAuthError) {
        search = form?["find"] ?? ""
        guard search.utf8.count <= Self.longestSearch else {
            throw OAuthError(.invalidRequest, "a search must have at most \(Self.longestSearch) bytes")
        }
        guard let place = ListPlace(form?["from"]) else {
            throw OAuthError(.invalidRequest, "from must be a number")
        }
        let search = search
        let matching = all.reversed().filter { $0.matches(search) }
        self.place = place.limited(to: matching.count, size: Self.size)
        users = Array(matching.dropFirst(self.place.skipped).prefix(Self.size))
        found = matching.count
    }

    /// Form fields that lead to this page.
    var fields: [(name: String, value: String)] {
        [("find", search), ("from", place.text)].filter { !$0.1.isEmpty }
    }

    /// The path of this page in the account list.
    var location: String { fields.isEmpty ? "/" : "/?\(FormEncoding.encode(fields))" }

    /// Returns the search field above a user list, as a form without scripts; `nil` if all users fit on one
    /// page.
    func searchForm(
        _ address: String, posts: Bool = false, hidden: [(name: String, value: String)] = []
    ) -> HTML? {
        guard found > Self.size || !search.isEmpty else { return nil }
        return HTML {
            """
            <form class="search" method="\(posts ? "post" : "get" as String)" action="\(address)" role="search">\
            \(HTML.hidden(hidden))<input type="search" name="find" aria-label="Name, e-mail address or user ID" \
            placeholder="Name, e-mail or ID" maxlength="100" value="\(search)"><button>Search</button></form>
            """
            if found == 0 { "<p>No account has this text in its name, addresses or user ID.</p>" }
        }
    }

    /// Returns the links to other pages below the list; `nil` if there is only one page.
    func pager(
        _ address: String, posts: Bool = false, hidden: [(name: String, value: String)] = []
    ) -> Pager? {
        guard found > Self.size else { return nil }
        return Pager(
            place, rows: users.count, size: Self.size, of: found, at: address, hidden + [("find", search)],
            posts: posts)
    }
}

extension EmulatedUser {
    /// First and last name, for display on a page.
    public var shownName: String {
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

    /// Returns true if every search word is part of the name or the address. User IDs and relay addresses are
    /// also searched, but a short word must match the whole value, because their random characters contain
    /// almost every short word.
    public func matches(_ search: String) -> Bool {
        let known = [firstName, lastName, email].compactMap { $0?.lowercased() }
        let given = identities.flatMap { [$0.relayAddress.lowercased(), $0.subject.lowercased()] }
        return search.lowercased().split(separator: " ").allSatisfy { word in
            known.contains { $0.contains(word) }
                || given.contains { word.utf8.count < Self.shortestPart ? $0 == word : $0.contains(word) }
        }
    }

    /// Minimum length in bytes of a word that may match only part of a user ID or relay address.
    private static let shortestPart = 6
}
