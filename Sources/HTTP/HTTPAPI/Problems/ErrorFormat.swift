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

/// Facts about the user who reads an error page. The type is a class, so that all other requests store one
/// word instead of five.
final class PageReader: Sendable {
    private let query: String?
    private let acceptLanguage: String?
    private let languages: PageLanguages
    /// True if the URL is an App Flip universal link that no app has opened.
    let isAtAppLink: Bool

    /// - Parameters:
    ///   - query: The request's query, which can name languages (`ui_locales`).
    ///   - headers: The request headers; `nil` if they did not arrive.
    ///   - languages: The available page languages.
    init(query: Substring?, headers: HTTPHeaders?, languages: PageLanguages, isAtAppLink: Bool = false) {
        self.languages = languages
        self.query = query.map(String.init)
        acceptLanguage = headers?.first(name: "accept-language")
        self.isAtAppLink = isAtAppLink
    }

    /// The page's language. Determined on demand, because most requests do not fail.
    var language: PageLanguage {
        RequestedLanguages(query: query ?? "")
            .language(among: languages, acceptLanguage: acceptLanguage)
    }
}

/// The page that a browser shows for a problem: for a sign-in that cannot continue, and for an unknown path.
///
/// The page shows the problem code and the request ID. It does not show the problem's texts, which are for
/// developers.
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

/// The response to a request that the service rejects because of overload. Everything except the request ID
/// is prepared, so that the response is as cheap as possible.
enum OverloadResponse {
    private static let problem = Problem(.overloaded)
    /// The problem document up to its last member, which is the request ID.
    private static let beginning = Array(
        ProblemBody(problem: problem, requestID: "").json().dropLast(2))
    private static let ending = Array("\"}".utf8)

    /// - Parameter requestID: An ID that `RequestID` has created or accepted, so it needs no escaping.
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
