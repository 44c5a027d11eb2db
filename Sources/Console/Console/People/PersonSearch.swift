import AppleAccounts

/// The form above the list of people.
struct PersonSearch {
    /// The text that was searched for; empty for none. Can be an address or a name, so it never is in a URL.
    let text: String
    let app: String
    let state: String
    let reason: String
    let disabled: String
    let linked: String
    let token: String
    let createdAfter: String
    let position: SearchPosition?

    init(_ fields: [String: String]) {
        text = String(fields["q", default: ""].prefix(520)).trimmed
        app = fields["app", default: ""]
        state = fields["state", default: ""]
        reason = fields["reason", default: ""]
        disabled = fields["disabled", default: ""]
        linked = fields["linked", default: ""]
        token = fields["token", default: ""]
        createdAfter = fields["created_after", default: ""]
        position = fields["after"].flatMap { SearchPosition($0) }
    }

    /// The ways in which the text can be meant. The first way with a result counts.
    var keys: [AccountSearch.Key] {
        guard !text.isEmpty else { return [] }
        if let id = AccountID(text) { return [.account(id)] }
        if let id = GrantID(text) { return [.grant(id)] }
        if text.contains("@") { return [.email(text)] }
        guard !text.contains(" "), let subject = AppleSubject(text) else { return [.name(text)] }
        // Apple's user IDs have digits and dots.
        let first: AccountSearch.Key = .subject(subject)
        return text.first?.isNumber == true ? [first, .name(text)] : [.name(text), first]
    }

    /// Returns `nil` for a value that no form has.
    var filter: AccountFilter? {
        var filter = AccountFilter()
        if !app.isEmpty {
            guard let clientID = ClientID(app) else { return nil }
            filter.clientID = clientID
        }
        if !state.isEmpty {
            guard let word = CredentialState(rawValue: state) else { return nil }
            filter.state = word
        }
        if !reason.isEmpty {
            guard let word = CredentialReason(rawValue: reason) else { return nil }
            filter.reason = word
        }
        guard let disabled = Self.truth(disabled), let linked = Self.truth(linked),
            let token = Self.truth(token)
        else { return nil }
        (filter.isDisabled, filter.isLinked, filter.holdsAppleToken) = (
            disabled.value, linked.value, token.value
        )
        if !createdAfter.isEmpty {
            // Browsers send the date alone.
            guard
                let moment = Moment(
                    rfc3339: createdAfter.count == 10 ? createdAfter + "T00:00:00Z" : createdAfter)
            else { return nil }
            filter.createdAfter = moment
        }
        return filter
    }

    private struct Truth {
        let value: Bool?
    }

    private static func truth(_ text: String) -> Truth? {
        switch text {
        case "": Truth(value: nil)
        case "yes": Truth(value: true)
        case "no": Truth(value: false)
        default: nil
        }
    }
}

extension String {
    /// The text without spaces at its ends, which copying brings along.
    var trimmed: String {
        var rest = self[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
