import AppleAccounts

/// The values of the list of people.
struct PeopleValues: Sendable {
    struct Choice: Sendable {
        let value: String
        let label: String
        let isChosen: Bool
    }

    struct Field: Sendable {
        let name: String
        let label: String
        let choices: [Choice]
    }

    struct State: Sendable {
        let app: String
        let word: String
        let look: String
    }

    struct Row: Sendable {
        let id: String
        let name: String?
        let email: String?
        let created: String
        let lastSignIn: String?
        let isDisabled: Bool
        let states: [State]
    }

    /// A field of the form that asks for the next page.
    struct Hidden: Sendable {
        let name: String
        let value: String
    }

    let csrf: String
    /// Unset in `siwa dev`, whose people are invented.
    let isMasked: Bool
    let text: String
    let createdAfter: String
    let fields: [Field]
    let people: [Row]
    /// Set if the ID of a grant was searched for.
    let isGrant: Bool
    /// Set if nothing was found.
    let isEmpty: Bool
    let hasNext: Bool
    /// The fields of the form of the next page; empty on the last page.
    let next: [Hidden]

    init(_ search: PersonSearch, _ page: AccountPage, apps: [ClientID], viewer: ConsoleViewer) {
        csrf = viewer.formToken
        isMasked = !viewer.isDevelopment
        text = search.text
        createdAfter = search.createdAfter
        let truths = [("yes", "yes"), ("no", "no")]
        fields = [
            Self.field("app", "App", search.app, apps.map { ($0.rawValue, $0.rawValue) }),
            Self.field(
                "state", "State", search.state,
                [CredentialState.authorized, .revoked].map { ($0.rawValue, $0.rawValue) }),
            Self.field(
                "reason", "Reason", search.reason, CredentialReason.allCases.map { ($0.rawValue, $0.words) }),
            Self.field("disabled", "Disabled", search.disabled, truths),
            Self.field("linked", "Linked", search.linked, truths),
            Self.field("token", "Apple token", search.token, truths),
        ]
        people = page.accounts.map { Row($0, isShown: viewer.isDevelopment) }
        isGrant = GrantID(search.text) != nil
        isEmpty = page.accounts.isEmpty
        hasNext = page.next != nil
        next =
            (page.next.map { $0.text }).map { position in
                [
                    ("q", search.text), ("app", search.app), ("state", search.state),
                    ("reason", search.reason),
                    ("disabled", search.disabled), ("linked", search.linked), ("token", search.token),
                    ("created_after", search.createdAfter), ("after", position),
                ].map { Hidden(name: $0.0, value: $0.1) }
            } ?? []
    }

    private static func field(
        _ name: String, _ label: String, _ chosen: String, _ choices: [(String, String)]
    ) -> Field {
        Field(
            name: name, label: label,
            choices: [Choice(value: "", label: "any", isChosen: chosen.isEmpty)]
                + choices.map { Choice(value: $0.0, label: $0.1, isChosen: $0.0 == chosen) })
    }
}

extension PeopleValues.Row {
    fileprivate init(_ account: Account, isShown: Bool) {
        id = account.id.rawValue
        name = MaskedText.name(account.profile, isShown: isShown)
        email = account.email.map { MaskedText.email($0, isShown: isShown) }
        created = account.createdAt.shown
        lastSignIn = account.lastSignInAt?.shown
        isDisabled = account.disabling != nil
        states = account.credentials.map {
            PeopleValues.State(app: $0.clientID.rawValue, word: $0.state.rawValue, look: $0.state.look)
        }
    }
}

extension CredentialState {
    /// The class of the style sheet.
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
