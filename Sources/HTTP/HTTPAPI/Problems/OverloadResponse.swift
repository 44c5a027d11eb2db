import HTTPEngine
import NIOHTTP1

/// The response to a request that is rejected because of overload. Everything except the request's ID is
/// prepared, so that the response costs as little as possible.
enum OverloadResponse {
    private static let problem = Problem(.overloaded)
    /// The problem up to its last member, which is the request's ID.
    private static let beginning = Array(problem.body(requestID: "").dropLast(2))
    private static let ending = Array("\"}".utf8)

    /// - Parameter requestID: Needs no escape, like every ID that `RequestID` makes or accepts.
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
