import AppleAccounts
import AuthorizationServer
public import OAuth
public import StrictJSON

// The bodies of App Flip calls. They accept empty strings, because Google may send an empty parameter. The
// service treats an empty string as a missing parameter and returns the error to Google.

/// The body of `POST /v1/oauth/app-flip`.
struct AppFlipBody: RequestBody {
    static var schemaName: String { "AppFlipRequest" }
    static var schemaText: String {
        """
        A `redirect_uri` that is not a redirect URI of Google is refused with 400. Other mistakes in the
        universal link are reported to Google: the response is 200, with an `outcome` and a `redirect_to` for Google.
        """
    }
    let call: AppFlipRequestBody

    init<C: RequestCourse>(_ member: inout C) throws(C.Failure) {
        var call = try AppFlipRequestBody(
            link: &member, state: "From the universal link. It is returned unchanged.",
            locale: "The language of `message` (BCP 47).", accountID: .optionalText())
        call.attestation = try member(
            "attestation",
            .attestationProof(
                "A proof of the genuine app. It vouches for the identity token, or with `account_id` for `state`."
            )
        ) { (value) throws(Problem) in value }
        call.appVersion = try member(
            "app_version", .optionalText("`CFBundleShortVersionString` of the app."))
        call.decision = try member.text(
            "decision", "`granted`, `denied` or `cancelled`. Any other value is 400 if the link is valid.")
        call.grantedScopes = try member.text(
            "granted_scopes",
            "A part of the requested scopes. Without the member, all requested scopes.")
        call.identityToken = try member("identity_token", .optionalText())
        call.nonce = try member("nonce", .optionalText())
        self.call = call
    }
}

/// The body of `POST /v1/oauth/app-flip/prompt`. It rejects the decision and identity token members, because
/// the user has not decided yet and a prompt must not consume an identity token.
struct AppFlipPromptBody: RequestBody {
    static var schemaName: String { "AppFlipPromptRequest" }
    static var schemaText: String {
        "The parameters of the universal link, and the account that is signed in."
    }
    let call: AppFlipRequestBody

    init<C: RequestCourse>(_ member: inout C) throws(C.Failure) {
        call = try AppFlipRequestBody(
            link: &member, state: "From the universal link.",
            locale: "The preferred language of the texts (BCP 47).",
            accountID: "Without the member, only the link is checked, for a user who has not signed in yet.")
    }
}

extension AppFlipRequestBody {
    /// Reads the members that both bodies share.
    fileprivate init<C: RequestCourse>(
        link member: inout C, state stateText: String, locale: String, accountID accountText: JSONSchema
    ) throws(C.Failure) {
        self.init()
        clientID = try member.text("client_id", "From the universal link.")
        redirectURI = try member(
            "redirect_uri", String.requestSchema.with("From the universal link."), isRequired: true
        ) { (value) throws(Problem) in try value.text("redirect_uri") }
        state = try member.text("state", stateText)
        scope = try member.text(
            "scope", "From the universal link. Without the member, all scopes of the client.")
        codeChallenge = try member.text("code_challenge", "Of the universal link (RFC 7636).")
        codeChallengeMethod = try member.text("code_challenge_method", "Of the universal link: `S256`.")
        userLocale = try member.text("user_locale", locale)
        acceptLanguage = try member.text(
            "accept_language",
            "The `Accept-Language` of the app. Decides when `user_locale` is absent, or not a language of the pages."
        )
        accountID = try member("account_id", accountText)
        authenticatedAt = try member(
            "authenticated_at",
            [
                "type": ["string", "null"],
                "description": "The time at which the user of `account_id` signed in. RFC 3339.",
            ])
    }
}

extension RequestCourse {
    /// Reads a string that may be empty.
    fileprivate mutating func text(_ name: StaticString, _ text: String) throws(Failure) -> String? {
        try self(name, ["type": ["string", "null"], "description": .string(text)]) {
            (value) throws(Problem) in try value.text(name)
        }
    }
}

extension JSONValue {
    fileprivate func text(_ name: StaticString) throws(Problem) -> String {
        guard let text = string else { throw Problem(.memberMalformed, subject: .member(name.description)) }
        return text
    }
}

extension AppFlipPrompt: JSONBody {
    public static var schemaName: String { "AppFlipPromptResponse" }
    public static var schemaText: String {
        "The contents of the sheet (`prompt`), or the URL that leads back to Google (`redirect_to`), never both."
    }

    private var question: LinkQuestion? { if case .ask(let question) = self { question } else { nil } }
    private var response: AppFlipResponse? {
        if case .refused(let response, _) = self { response } else { nil }
    }
    private var endsWithSignIn: Bool? {
        if case .refused(_, let endsWithSignIn) = self { endsWithSignIn } else { nil }
    }

    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member(
            "outcome",
            .words(
                ["prompt"] + AppFlipOutcome.allCases.filter { $0 != .code }.map(\.rawValue),
                "`prompt` when the app asks the user; otherwise the cause for which it does not.")
        ) { $0.response?.outcome.rawValue ?? "prompt" }
        member("prompt") { $0.question.map { Sheet($0) } }
        member("redirect_to", "Open this URL unchanged.") { $0.response?.redirectTo }
        member("message", "A sentence for the user, with `redirect_to`.") { $0.response?.message }
        member("detail", "With `invalid_request`: the fault of the link, for the developer.") {
            $0.response?.detail
        }
        member(
            "sign_in_again",
            "With `redirect_to`: true if the user can be linked after a new sign-in with Apple in the app."
        ) { $0.endsWithSignIn }
    }

    /// The consent page's texts without markup. The page itself is built from the same texts.
    struct Sheet: JSONBody {
        static var schemaName: String { "AppFlipPrompt" }
        static var schemaText: String {
            "The texts of the consent page as plain text, in the order in which they are shown."
        }
        private let question: LinkQuestion
        private let texts: AuthorizeTexts.Consent
        private let values: [String: String]
        private let user: ShownUser?

        init(_ question: LinkQuestion) {
            self.question = question
            texts = AuthorizeTexts.of(question.language).consent
            values = [
                "client": question.client.name[question.language], "app": question.appName[question.language],
            ]
            user = question.account.map { ShownUser($0) }
        }

        private var purpose: [String] {
            [TextPiece.filled(texts.purposeForGoogle, values)]
                + (question.client.purpose.map { [$0[question.language]] } ?? [])
        }

        private var scopes: [Scope] {
            question.scopes.map { Scope(scope: $0, language: question.language, texts: texts, user: user) }
        }

        private var notes: [Note] {
            let withoutEmail =
                question.scopes.contains { $0.token == .email }
                ? [] : [Note(text: TextPiece.filled(texts.emailNotShared, values), link: nil)]
            return withoutEmail
                + texts.notesForGoogle.map { note in
                    Note(text: note.plain, link: note.url.map { Link(text: note.text, url: $0) })
                }
        }

        static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
            member("language", "The language of all texts (BCP 47).") { $0.question.language.rawValue }
            member("direction", "`ltr` or `rtl`.") { $0.question.language.direction }
            member("title", "The heading of the sheet.") {
                TextPiece.filled($0.texts.heading(for: $0.question.client), $0.values)
            }
            member("purpose", "Paragraphs below the heading.") { $0.purpose }
            member("account") { sheet in sheet.user.map { User(user: $0, texts: sheet.texts) } }
            member("scopes_title", "The heading of the list of scopes.") {
                TextPiece.filled($0.texts.scopes, $0.values)
            }
            member("scopes", "The scopes of the link, in its order.") { $0.scopes }
            member("optional_scopes_note", "Present if the user can leave out some of the scopes: says how.")
            {
                $0.question.scopes.contains(where: \.isOptional) ? $0.texts.optionalScopes : nil
            }
            member(
                "notes",
                "Sentences below the scopes: the authorization, Google's privacy policy, where to unlink."
            ) { $0.notes }
            member("agree", "The label of the button for the decision `granted`.") {
                $0.texts.agreement(with: $0.question.client)
            }
            member("cancel", "The label of the button for the decision `denied`.") { $0.texts.cancel }
        }
    }
}

extension AppFlipPrompt.Sheet {
    struct User: JSONBody {
        static var schemaName: String { "AppFlipPromptAccount" }
        static var schemaText: String { "The account that is signed in. Absent without `account_id`." }
        let user: ShownUser
        let texts: AuthorizeTexts.Consent

        static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
            member("label", "\"Signed in as\", in the language of the sheet.") { $0.texts.signedInAs }
            member("title", "The name, or the address of a user without a name.") {
                $0.user.title ?? $0.texts.withoutName
            }
            member("subtitle", "The address of a user who has a name.") { $0.user.subtitle }
        }
    }

    struct Scope: JSONBody {
        static var schemaName: String { "AppFlipPromptScope" }
        static var schemaText: String { "A scope that the link requests." }
        let scope: DeclaredScope
        let language: PageLanguage
        let texts: AuthorizeTexts.Consent
        let user: ShownUser?

        private var detail: String? {
            guard scope.token == .email, let user else { return nil }
            return switch user.sharedEmail {
            case .own(let address): address
            case .relay(let address): TextPiece.filled(texts.emailHidden, ["email": address])
            case .unknown: texts.emailUnknown
            }
        }

        static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
            member("scope", "The name, for `granted_scopes`.") { $0.scope.token.rawValue }
            member("text", "What the scope allows.") { $0.scope.text[$0.language] }
            member("detail", "For `email`: the address that is shared.") { $0.detail }
            member("optional", "The user can leave the scope out.") { $0.scope.isOptional }
        }
    }

    struct Note: JSONBody {
        static var schemaName: String { "AppFlipPromptNote" }
        static var schemaText: String { "A sentence, with at most one link in it." }
        let text: String
        let link: Link?

        static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
            member("text", "The sentence. It contains the text of the link.") { $0.text }
            member("link") { $0.link }
        }
    }

    struct Link: JSONBody {
        static var schemaName: String { "AppFlipPromptLink" }
        static var schemaText: String { "A link to a page of Google." }
        let text: String
        let url: String

        static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
            member("text", "The part of the sentence that is the link.") { $0.text }
            member("url", "The target.") { $0.url }
        }
    }
}
