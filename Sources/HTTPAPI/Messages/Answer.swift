import NIOHTTP1

/// What a call answers, before it is put into bytes.
struct Answer: Sendable {
    let status: HTTPResponseStatus
    let contentType: StaticString?
    let body: [UInt8]
    var entityTag: String?
    /// Answers about people are kept by nobody on the way (RFC 9111 §5.2.2.5).
    var isPersonal = false
    /// A place for one more field, written as it is: `Retry-After`, `Allow`, `WWW-Authenticate`.
    var extraField: (name: StaticString, value: String)?
    /// The stable code of a problem, for the log.
    var code: String?

    /// A JSON answer about people.
    static func json(_ status: HTTPResponseStatus = .ok, _ body: [UInt8]) -> Answer {
        Answer(status: status, contentType: "application/json", body: body, isPersonal: true)
    }

    static func problem(_ problem: Problem, requestID: String) -> Answer {
        var answer = Answer(
            status: problem.status, contentType: "application/problem+json",
            body: problem.body(requestID: requestID))
        answer.code = problem.code
        if let seconds = problem.retryAfter {
            answer.extraField = ("retry-after", String(seconds))
        } else if let allow = problem.allow {
            answer.extraField = ("allow", allow)
        } else if problem.code == ProblemCode.callerUnauthenticated.rawValue {
            answer.extraField = ("www-authenticate", "Bearer realm=\"siwa\"")
        }
        return answer
    }
}
