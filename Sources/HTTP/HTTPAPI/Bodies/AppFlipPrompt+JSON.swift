import AuthorizationServer
import OAuth
import StrictJSON

extension JSONWriter {
    /// The body of the response to `POST /v1/oauth/app-flip/prompt`.
    mutating func value(_ prompt: AppFlipPrompt) {
        beginObject()
        switch prompt {
        case .ask(let question):
            member("outcome", "prompt")
            name("prompt")
            value(question)
        case .refused(let response, let endsWithSignIn):
            member("outcome", response.outcome.rawValue)
            member("redirect_to", response.redirectTo)
            member("message", response.message)
            member("detail", ifPresent: response.detail)
            member("sign_in_again", endsWithSignIn)
        }
        endObject()
    }

    /// The texts of the consent page, from the page's own source, without markup.
    private mutating func value(_ question: LinkQuestion) {
        let texts = AuthorizeTexts.of(question.language).consent
        let values = [
            "client": question.client.name[question.language], "app": question.appName[question.language],
        ]
        beginObject()
        member("language", question.language.rawValue)
        member("direction", question.language.direction)
        member("title", Markup.plain(texts.heading(for: question.client), values))
        name("purpose")
        beginArray()
        element()
        value(Markup.plain(texts.purposeForGoogle, values))
        if let purpose = question.client.purpose {
            element()
            value(purpose[question.language])
        }
        endArray()
        let user = question.account.map { ShownUser($0) }
        if let user {
            name("account")
            beginObject()
            member("label", texts.signedInAs)
            member("title", user.title ?? texts.withoutName)
            member("subtitle", ifPresent: user.subtitle)
            endObject()
        }
        member("scopes_title", Markup.plain(texts.scopes, values))
        name("scopes")
        beginArray()
        for scope in question.scopes {
            element()
            value(scope, question.language, texts, user)
        }
        endArray()
        if question.scopes.contains(where: \.isOptional) {
            member("optional_scopes_note", texts.optionalScopes)
        }
        name("notes")
        beginArray()
        if !question.scopes.contains(where: { $0.token == .email }) {
            element()
            note(Markup.plain(texts.emailNotShared, values), link: nil)
        }
        for note in texts.notesForGoogle {
            element()
            self.note(note.plain, link: note.url.map { (text: note.text, url: $0) })
        }
        endArray()
        member("agree", texts.agreement(with: question.client))
        member("cancel", texts.cancel)
        endObject()
    }

    private mutating func value(
        _ scope: DeclaredScope, _ language: PageLanguage, _ texts: AuthorizeTexts.Consent, _ user: ShownUser?
    ) {
        beginObject()
        member("scope", scope.token.rawValue)
        member("text", scope.text[language])
        if scope.token == .email, let user {
            switch user.sharedEmail {
            case .own(let address): member("detail", address)
            case .relay(let address): member("detail", Markup.plain(texts.emailHidden, ["email": address]))
            case .unknown: member("detail", texts.emailUnknown)
            }
        }
        member("optional", scope.isOptional)
        endObject()
    }

    private mutating func note(_ text: String, link: (text: String, url: String)?) {
        beginObject()
        member("text", text)
        if let link {
            name("link")
            beginObject()
            member("text", link.text)
            member("url", link.url)
            endObject()
        }
        endObject()
    }
}
