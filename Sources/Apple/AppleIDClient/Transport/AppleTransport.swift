import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import OutgoingHTTP
import TraceExport

/// Posts forms to Apple, with a time limit and a size limit for the response.
struct AppleTransport: Sendable {
    let client: HTTPClient
    let total: Duration
    /// Learns Apple's time from each response.
    let clock: AppleClock?

    /// Throws `.unreachable`, `.timedOut`, `.connectionLost` or `.answerUnusable` (too large, redirected). A
    /// cancelled caller gets `.unreachable` when nothing was sent, else `.connectionLost`.
    func post(_ url: String, _ fields: [(name: String, value: String)], bearer: String? = nil)
        async throws(AppleCallError) -> AppleResponse
    {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        if let bearer { request.headers.add(name: "Authorization", value: "Bearer \(bearer)") }
        return try await post(FormBody(fields), as: request)
    }

    /// Posts a text. Throws the same errors.
    func post(_ url: String, text: String, authorization: String) async throws(AppleCallError)
        -> AppleResponse
    {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Content-Type", value: "text/plain")
        request.headers.add(name: "Authorization", value: authorization)
        return try await post(FormBody(text: text), as: request)
    }

    private func post(
        _ body: FormBody, as unsent: HTTPClientRequest
    ) async throws(AppleCallError) -> AppleResponse {
        var request = unsent
        request.method = .POST
        request.headers.add(name: "User-Agent", value: "siwa")
        request.body = .stream(body, length: .known(Int64(body.bytes.readableBytes)))
        do {
            return try await exchange(request)
        } catch {
            throw Self.named(error, wasSent: body.wasRead)
        }
    }

    private func exchange(_ request: HTTPClientRequest) async throws -> AppleResponse {
        let start = ContinuousClock.now
        defer { OutgoingRequestTime.record(request.url, since: start) }
        return try await OutgoingRequestSpan.with(.callApple, request.url) { span in
            let response = try await TotalTime(limit: total).bound(
                failure: HTTPClientError.deadlineExceeded
            ) {
                try await ask(request)
            }
            OutgoingRequestSpan.note(status: response.status, on: span)
            return response
        }
    }

    private func ask(_ request: HTTPClientRequest) async throws -> AppleResponse {
        let response = try await client.execute(request, timeout: TimeAmount(total))
        clock?.notice(date: response.headers.first(name: "Date"), age: response.headers.first(name: "Age"))
        // A redirected request has sent the code to another host. Its response is not accepted.
        guard response.history.count <= 1 else {
            throw AppleCallError(.responseUnusable, detail: "redirected")
        }
        let isRead = response.status.code < 500
        let body = isRead ? try await response.body.collect(upTo: AppleResponse.longestBody) : ByteBuffer()
        // Reading a body in a cancelled task ends early and does not throw.
        try Task.checkCancellation()
        return AppleResponse(
            status: Int(response.status.code), body: Array(buffer: body),
            retryAfter: AppleResponse.retryAfter(response.headers.first(name: "Retry-After")))
    }

    /// Maps an error. The client has ended the request by then, so a body that is read later is not sent.
    private static func named(_ error: any Error, wasSent: Bool) -> AppleCallError {
        if let error = error as? AppleCallError { return error }
        guard wasSent else { return AppleCallError(.unreachable, detail: "\(error)") }
        switch error {
        case is NIOTooManyBytesError, is UnboundedResponse:
            return AppleCallError(.responseUnusable, detail: "too large")
        case let error as HTTPClientError where timeouts.contains(error):
            return AppleCallError(.timedOut, detail: error.shortDescription)
        default: return AppleCallError(.connectionLost, detail: "\(error)")
        }
    }

    private static let timeouts: [HTTPClientError] = [.readTimeout, .writeTimeout, .deadlineExceeded]
}
