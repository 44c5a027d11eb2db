import AppleAccounts
import AuthorizationServer
import NIOHTTP1
import OAuth

extension AuthorizeRefusalPage {
    /// - Parameters:
    ///   - query: The query of the request. Its faulty value is shown, escaped and shortened.
    ///   - issuer: Names the address to open in a browser.
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

    /// Says that the account is disabled. The button leads to the client with `access_denied`.
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

    /// Bound in Unicode scalars, because one character can be as long as a header.
    private static let longestValue = 300

    private static func value(of name: String, in query: String) -> String? {
        guard let parameters = try? FormParameters(parsing: query.utf8, as: .query),
            case .text(let text) = parameters.value(of: name, upTo: 4 * longestValue + 4)
        else { return nil }
        let start = text.unicodeScalars.prefix(longestValue)
        return start.endIndex == text.endIndex ? text : String(start) + "…"
    }
}
