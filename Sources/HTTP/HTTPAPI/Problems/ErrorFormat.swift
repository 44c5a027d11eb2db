import AuthorizationServer
import HTTPEngine
import NIOHTTP1
import StrictJSON

/// The format of an error response.
enum ErrorFormat: Sendable {
    /// A problem document (RFC 9457).
    case problem
    /// The JSON object of OAuth errors (RFC 6749 §5.2).
    case oauth
    /// An HTML page for a user's browser (RFC 6749 §4.1.2.1).
    case page(PageReader)
}

extension HTTPResponse {
    static func error(_ problem: Problem, as format: ErrorFormat, requestID: String) -> HTTPResponse {
        switch format {
        case .problem: return .problem(problem, requestID: requestID)
        case .oauth: return .oauthError(problem)
        case .page(let reader):
            var response = RefusalPage.response(
                to: problem, requestID: requestID, language: reader.language, isAppLink: reader.isAtAppLink)
            if let seconds = problem.retryAfter { response.fields.append(("retry-after", String(seconds))) }
            if let allow = problem.allow { response.fields.append(("allow", allow)) }
            return response
        }
    }
}

/// Facts about the user who reads an error page. It is a class, so that all other requests store one word
/// instead of five.
final class PageReader: Sendable {
    private let query: String?
    private let acceptLanguage: String?
    private let languages: PageLanguages
    /// True if the address is a universal link of App Flip that no app has opened.
    let isAtAppLink: Bool

    /// - Parameters:
    ///   - query: The query of the request, which can name languages (`ui_locales`).
    ///   - headers: The header fields; `nil` if they did not arrive.
    ///   - languages: The available languages of the pages.
    init(query: Substring?, headers: HTTPHeaders?, languages: PageLanguages, isAtAppLink: Bool = false) {
        self.languages = languages
        self.query = query.map(String.init)
        acceptLanguage = headers?.first(name: "accept-language")
        self.isAtAppLink = isAtAppLink
    }

    /// Language of the page. Determined on demand, because most requests do not fail.
    var language: PageLanguage {
        RequestedLanguages(query: query ?? "")
            .language(among: languages, acceptLanguage: acceptLanguage)
    }
}

/// The page that a browser shows for a problem: for a sign-in that cannot continue, and for an unknown path.
///
/// The page shows the problem's code and the request's ID. It does not show the problem's texts, which are
/// for developers.
enum RefusalPage {
    static func response(
        to problem: Problem, requestID: String, language: PageLanguage, isAppLink: Bool = false
    ) -> HTTPResponse {
        let texts = AuthorizeTexts.of(language).refusals
        return AuthorizeRefusalPage(
            refusal: isAppLink ? texts.linkOfApp : texts[keyPath: problem.type.page], status: problem.status,
            code: problem.code, requestID: requestID, language: language
        ).response
    }
}

/// The response to a request that the service rejects because of overload. All parts except the request's ID
/// are prepared, so that the response is as cheap as possible.
enum OverloadResponse {
    private static let problem = Problem(.overloaded)
    /// The problem document up to its last member, which is the request's ID.
    private static let beginning = Array(
        ProblemBody(problem: problem, requestID: "").json().dropLast(2))
    private static let ending = Array("\"}".utf8)

    /// - Parameter requestID: An ID that `RequestID` has made or accepted, so it needs no escapes.
    static func make(requestID: String, retryAfter: Int) -> HTTPResponse {
        var body: [UInt8] = []
        body.reserveCapacity(beginning.count + 66)
        body += beginning
        body += requestID.utf8
        body += ending
        var response = HTTPResponse(
            status: .serviceUnavailable, contentType: "application/problem+json", body: body,
            forbidsCaching: true)
        response.fields = [("retry-after", String(retryAfter))]
        response.code = problem.code
        return response
    }
}
