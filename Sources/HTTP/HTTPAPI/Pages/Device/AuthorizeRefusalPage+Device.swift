import AppleAccounts
import AuthorizationServer
import NIOHTTP1
import OAuth

extension AuthorizeRefusalPage {
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
