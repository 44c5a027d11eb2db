import AuthorizationServer
import HTTPEngine
import SignIn

/// The page that a user sees when a browser gets a problem: where a sign-in cannot go on, and where there is
/// no page.
///
/// The page shows the code of the problem and the ID of the request, and none of the problem's texts, which
/// are for developers.
enum RefusalPage {
    static func response(
        to problem: Problem, requestID: String, language: PageLanguage, isAppLink: Bool = false
    ) -> HTTPResponse {
        let texts = AuthorizeTexts.of(language).refusals
        return AuthorizeRefusalPage(
            refusal: isAppLink ? texts.linkOfApp : refusal(of: problem, in: texts), status: problem.status,
            code: problem.code, requestID: requestID, language: language
        ).response
    }

    private static func refusal(
        of problem: Problem, in texts: AuthorizeTexts.Refusals
    ) -> AuthorizeTexts.Refusal {
        if let code = WebRefusal.Code(rawValue: problem.code) { return refusal(of: code, in: texts) }
        if let code = ProblemCode.all.first(where: { $0.rawValue == problem.code }) {
            return code.page(texts)
        }
        // The wire codes of other modules, which no browser gets as a page.
        return texts.failed
    }

    private static func refusal(
        of code: WebRefusal.Code, in texts: AuthorizeTexts.Refusals
    ) -> AuthorizeTexts.Refusal {
        switch code {
        case .browserMismatch: texts.otherBrowser
        case .stateExpired, .stateUsed, .ticketExpired: texts.signInOver
        case .stateInvalid, .ticketInvalid, .codeInvalid: texts.signInUnknown
        }
    }
}
