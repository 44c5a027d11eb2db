import AuthorizationServer
import NIOHTTP1
import OAuth

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
