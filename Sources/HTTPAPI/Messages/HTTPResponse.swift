import NIOCore
import NIOHTTP1

/// What a call answers, before it is put into bytes.
struct HTTPResponse: Sendable {
    let status: HTTPResponseStatus
    let contentType: StaticString?
    let body: [UInt8]
    /// Follows `body`. The same memory for all who get it: a thousand clients that read slowly cost no thousand copies.
    var sharedBody: ByteBuffer?
    var entityTag: String?
    /// Answers about people are kept by nobody on the way (RFC 9111 §5.2.2.5).
    var isPersonal = false
    /// More fields, written as they are: nobody may put a line break into a value.
    var fields: [(name: StaticString, value: String)] = []
    /// The stable code of a problem, for the log.
    var code: String?

    /// A JSON answer about people.
    static func json(_ status: HTTPResponseStatus = .ok, _ body: [UInt8]) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "application/json", body: body, isPersonal: true)
    }

    static func problem(_ problem: Problem, requestID: String) -> HTTPResponse {
        var response = HTTPResponse(
            status: problem.status, contentType: "application/problem+json",
            body: problem.body(requestID: requestID))
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
