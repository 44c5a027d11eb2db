import AppleAccounts
import AuthorizationServer
import HTTPEngine
import NIOHTTP1
import OAuth
import Pages

/// The authorization endpoint's error page. It explains why the consent page does not appear, and suggests a
/// remedy.
struct AuthorizeRefusalPage {
    let refusal: AuthorizeTexts.Refusal
    let status: HTTPResponseStatus
    /// A stable error code for developers.
    let code: String
    let requestID: String
    let language: PageLanguage
    /// The faulty value in the request; `nil` if there is no such value.
    var found: String?
    /// A URL that the user can copy.
    var address: String?
    /// A link to the next page.
    var link: Link?
    var cookie: String?

    struct Link {
        let text: HTML
        /// The link's URL, which this service has checked or created.
        let url: String
    }

    var response: HTTPResponse {
        BrowserPage(
            language: language, title: refusal.title, content: content, status: status,
            code: code, cookie: cookie
        ).response
    }

    private var content: HTML {
        HTML {
            "<h1>\(refusal.title)</h1>"
            "<p>\(refusal.reason)</p>"
            found.map { HTML.copied($0) }
            "<p>\(refusal.advice)</p>"
            address.map { HTML.copied($0) }
            if let link {
                "<a class=\"button main\" rel=\"noreferrer\" href=\"\(link.url)\">\(link.text)</a>"
            }
            """
            <p class="code">\(HTML.filled(AuthorizeTexts.of(language).errorCode, ["code": .leftToRight(code)])) · \
            \(HTML.leftToRight(requestID))</p>
            """
        }
    }
}

extension AuthorizeRefusalPage {
    /// - Parameters:
    ///   - query: The request's query. The page shows its faulty value, escaped and truncated.
    ///   - issuer: The issuer, which is part of the URL to open in a browser.
    init(
        _ error: AuthorizationPageError, query: String, issuer: Issuer, requestID: String,
        language: PageLanguage
    ) {
        let texts = AuthorizeTexts.of(language).refusals
        let refusal =
            switch error.reason {
            case .clientUnknown: texts.unknownClient
            case .redirectURIMismatch: texts.redirectURIMismatch
            case .embeddedBrowser: texts.embeddedBrowser
            case .requestMalformed: texts.requestMalformed
            }
        self.init(
            refusal: refusal, status: HTTPResponseStatus(statusCode: error.status),
            code: error.error.code.rawValue, requestID: requestID, language: language)
        switch error.reason {
        case .clientUnknown: found = Self.value(of: "client_id", in: query)
        case .redirectURIMismatch: found = Self.value(of: "redirect_uri", in: query)
        case .embeddedBrowser: address = issuer.url("\(AuthorizeUseCase.path)?\(query)")
        case .requestMalformed: break
        }
    }

    init(_ error: FormRefusal, requestID: String, language: PageLanguage, cookie: String?) {
        let texts = AuthorizeTexts.of(language)
        self.init(
            refusal: error.code == .formRefused ? texts.refusals.formRefused : texts.refusals.signInNeeded,
            status: .forbidden, code: error.code.rawValue, requestID: requestID,
            language: language,
            link: Link(text: .text(texts.startAgain), url: "\(AuthorizeUseCase.path)?\(error.query)"),
            cookie: cookie)
    }

    /// Creates the page about a disabled account. Its button redirects to the client with `access_denied`.
    init(_ notice: DisabledAccountNotice, requestID: String, language: PageLanguage, cookie: String?) {
        let texts = AuthorizeTexts.of(language)
        self.init(
            refusal: texts.refusals.accountDisabled, status: .forbidden,
            code: AccountRefusal.Code.accountDisabled.rawValue, requestID: requestID, language: language,
            link: Link(
                text: .filled(texts.backToClient, ["client": .value(notice.client.name[language])]),
                url: notice.location),
            cookie: cookie)
    }

    /// Maximum length in Unicode scalars, because a single character can be as long as a header.
    private static let longestValue = 300

    private static func value(of name: String, in query: String) -> String? {
        guard let parameters = try? FormParameters(parsing: query.utf8, as: .query),
            case .text(let text) = parameters.value(of: name, upTo: 4 * longestValue + 4)
        else { return nil }
        let start = text.unicodeScalars.prefix(longestValue)
        return start.endIndex == text.endIndex ? text : String(start) + "…"
    }
}

extension AuthorizeRefusalPage {
    /// - Parameters:
    ///   - formRefused: The text about the refused form.
    ///   - address: Path and query of the page that the form belongs to.
    ///   - issuer: The issuer, which is part of the URL to open in a browser.
    init(
        _ refusal: UserPageRefusal, formRefused: AuthorizeTexts.Refusal, address: String, issuer: Issuer,
        requestID: String, language: PageLanguage, cookie: String?
    ) {
        let texts = AuthorizeTexts.of(language)
        let (text, status): (AuthorizeTexts.Refusal, HTTPResponseStatus) =
            switch refusal {
            case .pageUnknown: (texts.refusals.pageUnknown, .notFound)
            case .embeddedBrowser: (texts.refusals.embeddedBrowser, .forbidden)
            case .formRefused: (formRefused, .forbidden)
            case .signInNeeded: (texts.refusals.signInNeeded, .forbidden)
            case .unavailable: (texts.refusals.unavailable, .serviceUnavailable)
            }
        self.init(
            refusal: text, status: status, code: refusal.rawValue, requestID: requestID, language: language,
            cookie: cookie)
        switch refusal {
        case .embeddedBrowser: self.address = issuer.url(address)
        case .formRefused, .signInNeeded, .unavailable:
            link = Link(text: .text(texts.startAgain), url: address)
        case .pageUnknown: break
        }
    }
}

extension AuthorizeRefusalPage {
    /// Creates the page about a disabled account. The device keeps waiting for a sign-in with another
    /// account.
    init(
        ofDisabledAccount query: DeviceQuery, requestID: String, language: PageLanguage, cookie: String?
    ) {
        let texts = AuthorizeTexts.of(language)
        self.init(
            refusal: texts.refusals.accountDisabled, status: .forbidden,
            code: AccountRefusal.Code.accountDisabled.rawValue, requestID: requestID, language: language,
            link: Link(
                text: .text(texts.startAgain), url: "\(DevicePageUseCase.path)?\(query.forOtherAccount.text)"),
            cookie: cookie)
    }
}

extension AuthorizeRefusalPage {
    init(_ refusal: LogoutOutcome.Refusal, requestID: String, language: PageLanguage) {
        let (text, status): (AuthorizeTexts.Refusal, HTTPResponseStatus) =
            switch refusal {
            case .requestMalformed: (AuthorizeTexts.of(language).refusals.requestUnreadable, .badRequest)
            case .formRefused: (LogoutTexts.of(language).formRefused, .forbidden)
            }
        self.init(
            refusal: text, status: status, code: refusal.rawValue, requestID: requestID, language: language)
        if refusal == .formRefused {
            link = Link(text: .text(AuthorizeTexts.of(language).startAgain), url: LogoutUseCase.path)
        }
    }
}
