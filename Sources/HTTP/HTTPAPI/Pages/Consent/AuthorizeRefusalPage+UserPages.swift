import AuthorizationServer
import NIOHTTP1
import OAuth

extension AuthorizeRefusalPage {
    /// - Parameters:
    ///   - formRefused: Text for a refused form.
    ///   - address: Path and query of the page.
    ///   - issuer: Names the address to open in a browser.
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
