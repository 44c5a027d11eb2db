import AppleAccounts
import AuthorizationServer
import Commits
public import HTTPAPI
import Inspection
public import OAuth
import Pages
public import SignIn

/// The pages about people: the list, one person, and the actions on a person.
///
/// An operator sees and changes only data of the apps that the operator's key covers. The store's queries
/// limit reads, and commands check changes inside their transactions.
public struct PeoplePages: Sendable {
    let signIn: SignInUseCases
    /// Grant use cases; `nil` if no OAuth client is configured.
    let grants: GrantUseCases?
    let checks: CheckSchedule
    let recent: RecentRequests?
    private let audit: ConsoleAudit

    /// - Parameters:
    ///   - checks: The schedule of the daily refresh token checks at Apple.
    ///   - recent: The requests in `siwa dev`, with their bodies; `nil` in production, where no body is kept.
    public init(
        signIn: SignInUseCases, oauth: OAuthServer?, audit: @escaping ConsoleAudit, checks: CheckSchedule,
        recent: RecentRequests? = nil
    ) {
        (self.signIn, self.audit, self.checks, self.recent) = (signIn, audit, checks, recent)
        grants = oauth.map { GrantUseCases($0) }
    }

    public var pages: [ConsolePage] {
        [
            ConsolePage(.get, "/people", access: .operators, entry: ("People", 20), handle: list),
            // The search text can be an address or a name, so it must not be in a URL, because URLs end up in
            // logs and browser histories.
            ConsolePage(.post, "/people", access: .operators, handle: list),
            ConsolePage(.get, "/people/{account}", access: .operators) { try await person($0) },
            ConsolePage(.post, "/people/{account}/show", access: .operators, handle: show),
            ConsolePage(.post, "/people/{account}/disable", access: .operators, handle: disable),
            ConsolePage(.post, "/people/{account}/enable", access: .operators) { request in
                try await change(request, notice: "The person is enabled.") {
                    _ = try await signIn.enable(id: $0, allowed: $1)
                }
            },
            ConsolePage(.post, "/people/{account}/sign-out", access: .operators, handle: signOut),
            ConsolePage(.get, "/people/{account}/erase", access: .operators, handle: confirmErasure),
            ConsolePage(.post, "/people/{account}/erase", access: .operators, handle: erase),
        ]
    }

    /// Number of people per page of the list.
    static let pageSize = 25

    private func list(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let viewer = request.viewer
        // Ignores a search text in the URL.
        let search = PersonSearch(
            request.form.isEmpty ? request.query.filter { $0.key != "q" } : request.form, at: request.place)
        let page: AccountPage
        do {
            page = try await found(search, in: viewer.scope)
        } catch is SearchPositionUnknown {
            return .refused("This page belongs to another search.")
        }
        let apps = signIn.deployment.apps.map(\.primaryClientID).filter { viewer.scope.allows($0) }
        let more = page.next == nil ? "" : " among the accounts that were looked at. There are more"
        let ended = GrantID(search.text).map { _ in Self.endedGrant }
        return .page("People") {
            search.form(apps: apps, token: viewer.formToken)
            Table(
                "People",
                [
                    .any("Account"), .any("Name"), .any("Address"), .any("Credentials"), "Last sign-in",
                    "Created",
                ], page.accounts, ifEmpty: "\(ended)No account was found\(more).",
                pager: Pager(
                    search.place, rows: page.accounts.count, next: page.next?.text, at: "/console/people",
                    search.fields(token: viewer.formToken), posts: true)
            ) { Self.cells($0, isShown: viewer.isDevelopment) }
            "<p class=\"muted\">The newest come first.\(viewer.isDevelopment ? "" : Self.masked)</p>"
        }
    }

    private static let endedGrant: HTML = """
        No grant has this ID now. A grant that has ended is in the time line of its person, and in the \
        events.\u{20}
        """
    private static let masked: HTML =
        " Names and addresses are masked; a person's page shows them, and the audit log keeps who asked."

    private func found(_ search: PersonSearch, in scope: AppScope) async throws -> AccountPage {
        let filter = try search.filter
        var page = AccountPage(accounts: [], next: nil)
        for key in search.keys where page.accounts.isEmpty && page.next == nil {
            page = try await signIn.accounts(
                AccountSearch(key: key, filter: filter, scope: scope),
                after: search.place.position.flatMap { SearchPosition($0) }, limit: Self.pageSize)
        }
        return page
    }

    private static func cells(_ account: Account, isShown: Bool) -> [HTML] {
        let id = account.id.rawValue
        let disabled: HTML = account.disabling == nil ? "" : " <span class=\"warn\">disabled</span>"
        let states = account.credentials.map { credential -> HTML in
            let state = HTML.span(credential.state.look, .text(credential.state.rawValue))
            return "\(state) \(HTML.muted(credential.clientID.rawValue))<br>"
        }
        return [
            "<a href=\"/console/people/\(id)\"><code>\(id)</code></a>\(disabled)",
            "\(account.name(isShown: isShown))", "\(account.address(isShown: isShown))", HTML(states),
            "\(account.lastSignInAt?.shown)", "\(account.createdAt.shown)",
        ]
    }

    /// Shows the person's values. Writes the audit log entry before reading any value that the page shows.
    private func show(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard let id = try await account(of: request)?.id else { return .notFound }
        try await audit(AuditEntry(.consoleShow, by: .current, at: request.now, person: AuditPerson(id)))
        return try await person(request, isShown: true)
    }

    private func disable(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard let reason = Disabling.Reason(rawValue: request.form["reason", default: ""]) else {
            return .refused("Choose one of the reasons.")
        }
        let days = request.form["days", default: ""]
        var until: Moment?
        if !days.isEmpty {
            guard let number = Int64(days), (1...3650).contains(number) else {
                return .refused("The number of days must be from 1 to 3650, or empty.")
            }
            until = request.now.advanced(byMilliseconds: number * 86_400_000)
        }
        return try await change(request, notice: "The person is disabled.") {
            _ = try await signIn.disable(id: $0, reason: reason, until: until, allowed: $1)
        }
    }

    private func signOut(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let endsGoogleLinks = request.form["google"] == "yes"
        return try await change(request, notice: "The person is signed out everywhere.") { id, scope in
            if let grants {
                _ = try await grants.signOut(id, endsGoogleLinks: endsGoogleLinks, allowed: scope)
            } else {
                _ = try await signIn.signOut(id: id, keeping: [], allowed: scope)
            }
        }
    }

    private func confirmErasure(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard let id = try await account(of: request)?.id.rawValue else { return .notFound }
        return .page("Erase", heading: "<h1>Erase this person?</h1>") {
            Card {
                "<p><code>\(id)</code></p>"
                """
                <p>All personal data is deleted at once: address, name, <code>sub</code>, credentials, grants, \
                notifications and history. Apple's tokens are revoked, and the revocation is proven. The events \
                stay, without the person. <strong>This cannot be undone.</strong></p>
                """
                PostForm(to: "/console/people/\(id)/erase", token: request.viewer.formToken) {
                    """
                    <p><label><input type="checkbox" name="confirm" value="erase" required> I want to erase this \
                    person</label></p>
                    <button class="danger">Erase</button> <a href="/console/people/\(id)">Back</a>
                    """
                }
            }
        }
    }

    private func erase(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard request.form["confirm"] == "erase" else {
            return .refused("Confirm the erasure on the page before.")
        }
        return try await change(request, notice: "The person is erased.") {
            _ = try await signIn.erase(id: $0, allowed: $1)
        }
    }

    /// Carries out a change, and redirects to the person's page.
    private func change(
        _ request: ConsoleRequest, notice: String, _ body: (String, AppScope) async throws -> Void
    ) async throws -> ConsoleAnswer {
        guard let id = request.account else { return .notFound }
        do {
            return try await unlessUnknown {
                try await body(id.rawValue, request.viewer.scope)
                return .redirect(to: "/people/\(id.rawValue)", notice: notice)
            } ?? .notFound
        } catch is CallerForbidden {
            return .refused(
                "The person has a credential for an app that your key may not see. Ask an operator of all apps."
            )
        } catch is OverloadedError {
            return .refused("The service is overloaded. Nothing was changed. Try again.")
        }
    }

    /// Returns `nil` if the account is erased, or if the operator may not see it.
    func account(of request: ConsoleRequest) async throws -> Account? {
        guard let id = request.account else { return nil }
        return try await unlessUnknown {
            try await signIn.account(id: id.rawValue, allowed: request.viewer.scope)
        }
    }

    /// Returns `nil` if a use case finds no account.
    func unlessUnknown<Value>(_ body: () async throws -> Value) async throws -> Value? {
        do {
            return try await body()
        } catch let refusal as AccountRefusal where refusal.code == .accountNotFound {
            return nil
        }
    }
}

extension ConsoleRequest {
    /// The account named in the path.
    var account: AccountID? { AccountID(parameters["account", default: ""]) }
}

// Personal text, which is masked until an operator asks to see it.
extension Account {
    /// Returns the parts of the name, or the first letter and "…" for each part.
    func name(isShown: Bool) -> String? {
        let parts = [profile.firstName, profile.lastName].compactMap { $0 }
        guard !parts.isEmpty else { return nil }
        return parts.map { isShown ? $0 : $0.prefix(1) + "…" }.joined(separator: " ")
    }

    /// Returns the address, or "a…@p…". A masked relay address looks like any other.
    func address(isShown: Bool) -> String? { isShown ? email : email.map { PersonMask.address($0) } }
}

extension CredentialState {
    /// CSS class for the state.
    var look: String {
        switch self {
        case .authorized: "good"
        case .revoked: "bad"
        case .notFound: "muted"
        }
    }
}

extension CredentialReason {
    var words: String {
        switch self {
        case .signedIn: "signed in"
        case .consentRevoked: "consent withdrawn at Apple"
        case .appleAccountDeleted: "Apple Account deleted"
        case .refreshTokenRejected: "refresh token refused by Apple"
        case .erased: "erased"
        }
    }
}

/// The form above the list of people.
struct PersonSearch {
    /// The search text; empty if there is none. It can be an address or a name, so it is never in a URL.
    let text: String
    let place: ListPlace
    private let fields: [String: String]

    init(_ fields: [String: String], at place: ListPlace) {
        // Removes surrounding spaces, which copied text often has.
        let given = fields["q", default: ""].prefix(520).drop(while: \.isWhitespace)
        text = given.lastIndex { !$0.isWhitespace }.map { String(given[...$0]) } ?? ""
        (self.place, self.fields) = (place, fields)
    }

    /// The search keys for the text; the search uses the first key with a result. `nil` finds all accounts.
    var keys: [AccountSearch.Key?] {
        guard !text.isEmpty else { return [nil] }
        if let id = AccountID(text) { return [.account(id)] }
        if let id = GrantID(text) { return [.grant(id)] }
        if text.contains("@") { return [.email(text)] }
        guard !text.contains(" "), let subject = AppleSubject(text) else { return [.name(text)] }
        // Apple's user IDs start with a digit, so text that starts with a digit is tried as a user ID first.
        let first: AccountSearch.Key = .subject(subject)
        return text.first?.isNumber == true ? [first, .name(text)] : [.name(text), first]
    }

    var filter: AccountFilter {
        get throws(ConsoleAnswer) {
            AccountFilter(
                clientID: try value("app") { ClientID($0) },
                state: try value("state") { CredentialState(rawValue: $0) },
                reason: try value("reason") { CredentialReason(rawValue: $0) },
                holdsAppleToken: try value("token") { Self.truths[$0] },
                isDisabled: try value("disabled") { Self.truths[$0] },
                isLinked: try value("linked") { Self.truths[$0] },
                // Browsers send only the date, so this adds midnight in UTC.
                createdAfter: try value("created_after") {
                    Moment(rfc3339: $0.count == 10 ? $0 + "T00:00:00Z" : $0)
                })
        }
    }

    private static let truths = ["yes": true, "no": false]

    private func value<Value>(_ name: String, _ read: (String) -> Value?) throws(ConsoleAnswer) -> Value? {
        try fields.value(name, or: "A filter has a value that this page does not know.", read)
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
            """
            Division("grid") {
                for (name, label, choices) in lists {
                    Division {
                        "<label for=\"field-\(name)\">\(label)</label>"
                        Select(name, id: "field-\(name)", [("", "any")] + choices, chosen: fields[name] ?? "")
                    }
                }
                """
                <div><label for="created_after">Created after (UTC)</label>
                <input id="created_after" name="created_after" type="date" value="\(fields["created_after"])"></div>
                """
            }
            "<button>Search</button>"
        }
    }

    /// Returns the fields that request another page of the same search.
    func fields(token: String) -> [(name: String, value: String)] {
        let names = ["app", "state", "reason", "disabled", "linked", "token", "created_after"]
        return [("csrf", token), ("q", text)] + names.map { ($0, fields[$0, default: ""]) }
    }
}
