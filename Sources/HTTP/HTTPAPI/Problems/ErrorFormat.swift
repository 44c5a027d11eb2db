import HTTPEngine

/// The form of a request's error response.
enum ErrorFormat: Sendable {
    /// A problem (RFC 9457).
    case problem
    /// The JSON of OAuth's endpoints (RFC 6749 §5.2).
    case oauth
    /// A page, because a browser shows it to a user (RFC 6749 §4.1.2.1).
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
