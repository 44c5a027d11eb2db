import HTTPEngine

extension HTTPResponse {
    static func problem(_ problem: Problem, requestID: String) -> HTTPResponse {
        // A cache may keep a 404 without permission (RFC 9110 §15.1), but a missing resource can exist later.
        var response = HTTPResponse(
            status: problem.status, contentType: "application/problem+json",
            body: problem.body(requestID: requestID), forbidsCaching: true)
        response.code = problem.code
        if let seconds = problem.retryAfter {
            response.fields = [("retry-after", String(seconds))]
        } else if let allow = problem.allow {
            response.fields = [("allow", allow)]
        } else if problem.code == ProblemCode.callerUnauthenticated.rawValue {
            response.fields = [("www-authenticate", "Bearer realm=\"siwa\"")]
        }
        return response
    }
}
