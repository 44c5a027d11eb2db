import AppleAccounts
import Pages

/// The form above the list of people.
struct PersonSearch {
    /// The text that was searched for; empty for none. Can be an address or a name, so it never is in a URL.
    let text: String
    let position: SearchPosition?
    private let fields: [String: String]

    init(_ fields: [String: String]) {
        // Copying brings spaces along.
        let given = fields["q", default: ""].prefix(520).drop(while: \.isWhitespace)
        text = given.lastIndex { !$0.isWhitespace }.map { String(given[...$0]) } ?? ""
        position = fields["after"].flatMap { SearchPosition($0) }
        self.fields = fields
    }

    /// The ways in which the text can be meant; `nil` without a text. The first way with a result counts.
    var keys: [AccountSearch.Key?] {
        guard !text.isEmpty else { return [nil] }
        if let id = AccountID(text) { return [.account(id)] }
        if let id = GrantID(text) { return [.grant(id)] }
        if text.contains("@") { return [.email(text)] }
        guard !text.contains(" "), let subject = AppleSubject(text) else { return [.name(text)] }
        // Apple's user IDs have digits and dots.
        let first: AccountSearch.Key = .subject(subject)
        return text.first?.isNumber == true ? [first, .name(text)] : [.name(text), first]
    }

    /// A field has a value that no form has.
    struct UnknownValue: Error {}

    var filter: AccountFilter {
        get throws(UnknownValue) {
            AccountFilter(
                clientID: try value("app") { ClientID($0) },
                state: try value("state") { CredentialState(rawValue: $0) },
                reason: try value("reason") { CredentialReason(rawValue: $0) },
                holdsAppleToken: try value("token") { Self.truths[$0] },
                isDisabled: try value("disabled") { Self.truths[$0] },
                isLinked: try value("linked") { Self.truths[$0] },
                // Browsers send the date alone.
                createdAfter: try value("created_after") {
                    Moment(rfc3339: $0.count == 10 ? $0 + "T00:00:00Z" : $0)
                })
        }
    }

    private static let truths = ["yes": true, "no": false]

    /// Returns `nil` for an empty field, which limits nothing.
    private func value<Value>(
        _ name: String, _ read: (String) -> Value?
    ) throws(UnknownValue) -> Value? {
        guard let text = fields[name], !text.isEmpty else { return nil }
        guard let value = read(text) else { throw UnknownValue() }
        return value
    }

    func form(apps: [ClientID], token: String) -> PostForm {
        let truths = ["yes", "no"].map { ($0, $0) }
        let lists = [
            ("app", "App", apps.map { ($0.rawValue, $0.rawValue) }),
            ("state", "State", [CredentialState.authorized, .revoked].map { ($0.rawValue, $0.rawValue) }),
            ("reason", "Reason", CredentialReason.allCases.map { ($0.rawValue, $0.words) }),
            ("disabled", "Disabled", truths), ("linked", "Linked", truths), ("token", "Apple token", truths),
        ]
        return PostForm(to: "/console/people", token: token, look: "card") {
            """
            <label for="q">Name, address, relay address, account, <code>sub</code> or grant</label>
            <input id="q" name="q" type="search" value="\(text)" autocomplete="off" spellcheck="false" maxlength="520">
            <div class="grid">
            """
            for (name, label, choices) in lists {
                "<div><label for=\"field-\(name)\">\(label)</label>"
                Select(name, id: "field-\(name)", [("", "any")] + choices, chosen: fields[name, default: ""])
                "</div>"
            }
            """
            <div><label for="created_after">Created after (UTC)</label>
            <input id="created_after" name="created_after" type="date" value="\(fields["created_after"])"></div>
            </div>
            <button>Search</button>
            """
        }
    }

    /// The form that asks for the next page of the same search.
    func form(after position: SearchPosition, token: String) -> PostForm {
        let names = ["app", "state", "reason", "disabled", "linked", "token", "created_after"]
        let values = [("q", text)] + names.map { ($0, fields[$0, default: ""]) } + [("after", position.text)]
        return PostForm(to: "/console/people", token: token) {
            for (name, value) in values { "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">" }
            "<button class=\"secondary\">Next page</button>"
        }
    }
}
