import AppleAccounts
import HTTPEngine

/// The query of `GET /v1/accounts`: search conditions, and the position and size of the page.
struct AccountSearchQuery: Sendable {
    static let defaultLimit: Int64 = 50
    /// Maximum length of a search text, in characters. No stored name or address is longer.
    private static let longestText = 520

    /// - Parameter clientID: Client ID of the filter, as received. It can be any of the app's client IDs.
    let clientID: String?
    let key: AccountSearch.Key?
    let filter: AccountFilter
    let position: SearchPosition?
    let limit: Int

    /// Reads the query. Throws `parameter_malformed`.
    init(_ query: Query, largestPage: Int) throws(Problem) {
        clientID = query["client_id"]
        key = try Self.key(query)
        var filter = AccountFilter()
        filter.state = try Self.word("state", in: query)
        filter.reason = try Self.word("reason", in: query)
        filter.isDisabled = try Self.truth("disabled", in: query)
        filter.isLinked = try Self.truth("linked", in: query)
        filter.holdsAppleToken = try Self.truth("apple_token", in: query)
        if let text = query["created_after"] {
            guard let moment = Moment(rfc3339: text) else { throw Self.malformed("created_after") }
            filter.createdAfter = moment
        }
        self.filter = filter
        position = try query["after"].map { text throws(Problem) in
            guard let position = SearchPosition(text) else { throw Self.malformed("after") }
            return position
        }
        limit = Int(try query.number("limit", in: 1...Int64(largestPage), default: Self.defaultLimit))
    }

    /// Accepts at most one search key, because a search with two keys would need an index over both columns.
    private static func key(_ query: Query) throws(Problem) -> AccountSearch.Key? {
        let names = ["email", "name", "grant_id"].filter { query[$0] != nil }
        guard let name = names.first, let text = query[name] else { return nil }
        guard names.count == 1, text.unicodeScalars.count <= longestText else {
            throw malformed(names.count > 1 ? names[1] : name)
        }
        switch name {
        case "email": return .email(text)
        case "name": return .name(text)
        default:
            guard let id = GrantID(text) else { throw malformed(name) }
            return .grant(id)
        }
    }

    private static func word<Word: RawRepresentable<String>>(
        _ name: String, in query: Query
    ) throws(Problem) -> Word? {
        guard let text = query[name] else { return nil }
        guard let word = Word(rawValue: text) else { throw malformed(name) }
        return word
    }

    private static func truth(_ name: String, in query: Query) throws(Problem) -> Bool? {
        switch query[name] {
        case nil: nil
        case "true": true
        case "false": false
        case .some: throw malformed(name)
        }
    }

    private static func malformed(_ name: String) -> Problem {
        Problem(.parameterMalformed, subject: .parameter(name))
    }
}
