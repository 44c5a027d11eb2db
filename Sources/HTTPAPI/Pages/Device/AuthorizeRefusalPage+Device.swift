import AppleAccounts
import AuthorizationServer
import NIOHTTP1
import OAuth

extension AuthorizeRefusalPage {
    /// - Parameter issuer: Names the address to open in a browser.
    init(
        _ refusal: DevicePageOutcome.Refusal, query: DeviceQuery, issuer: Issuer, requestID: String,
        language: PageLanguage, cookie: String?
    ) {
        let texts = AuthorizeTexts.of(language)
        let address = "\(DevicePageUseCase.path)?\(query.text)"
        let (text, status): (AuthorizeTexts.Refusal, HTTPResponseStatus) =
            switch refusal {
            case .embeddedBrowser: (texts.refusals.embeddedBrowser, .forbidden)
            case .formRefused: (texts.refusals.formRefused, .forbidden)
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
        }
    }

    /// Says that the account is disabled. The device goes on waiting, for another account.
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
