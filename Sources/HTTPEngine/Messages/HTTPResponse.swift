import NIOCore
import NIOHTTP1

/// The response to a request, before it is encoded.
struct HTTPResponse: Sendable {
    let status: HTTPResponseStatus
    let contentType: StaticString?
    let body: [UInt8]
    /// Written after `body`. All responses share its memory, so that a thousand slow clients cause no
    /// thousand copies.
    var sharedBody: ByteBuffer?
    var entityTag: String?
    /// True if no cache may keep the response (RFC 9111 §5.2.2.5): a response about a user, and every error.
    var forbidsCaching = false
    /// More fields, written without escapes: a value must not contain a line break.
    var fields: [(name: StaticString, value: String)] = []
    /// The stable code of a problem, for the log.
    var code: String?

    /// A JSON response about a user.
    static func json(_ status: HTTPResponseStatus = .ok, _ body: [UInt8]) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "application/json", body: body, forbidsCaching: true)
    }

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
