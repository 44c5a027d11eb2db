import AsyncHTTPClient
import Encodings
import NIOCore
import NIOHTTP1
import OutgoingHTTP
import StrictJSON
import Synchronization
import TraceExport

/// Posts forms to Apple, with a time limit and a response size limit.
struct AppleTransport: Sendable {
    let client: HTTPClient
    let total: Duration
    /// Records Apple's time from each response.
    let clock: AppleClock?

    /// Throws `.unreachable`, `.timedOut`, `.connectionLost` or `.responseUnusable` (too large, redirected).
    /// A cancelled caller gets `.unreachable` if nothing was sent, otherwise `.connectionLost`.
    func post(_ url: String, _ fields: [(name: String, value: String)], bearer: String? = nil)
        async throws(AppleCallError) -> AppleResponse
    {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        if let bearer { request.headers.add(name: "Authorization", value: "Bearer \(bearer)") }
        return try await post(FormBody(fields), as: request)
    }

    /// Posts a string. Throws the same errors as for a form.
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
        // A redirected request has sent the code to another host, so the response must not be accepted.
        guard response.history.count <= 1 else {
            throw AppleCallError(.responseUnusable, detail: "redirected")
        }
        let isRead = response.status.code < 500
        let body = isRead ? try await response.body.collect(upTo: AppleResponse.longestBody) : ByteBuffer()
        // In a cancelled task, reading a body ends early without throwing.
        try Task.checkCancellation()
        return AppleResponse(
            status: Int(response.status.code), body: Array(buffer: body),
            retryAfter: AppleResponse.retryAfter(response.headers.first(name: "Retry-After")))
    }

    /// Converts an error to an `AppleCallError`. `wasSent` is final: the client has already ended the
    /// request, so it cannot start sending the body after this check.
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

/// The body of a form post, which records whether the client has begun to send it.
///
/// The client reads a streamed body only once the connection, including TLS, is established and the request
/// head is written. So if a body was never read, Apple has not received the code or token in it.
final class FormBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let bytes: ByteBuffer
    private let isRead = Atomic(false)

    var wasRead: Bool { isRead.load(ordering: .acquiring) }

    init(_ fields: [(name: String, value: String)]) {
        bytes = ByteBuffer(string: FormEncoding.encode(fields))
    }

    init(text: String) { bytes = ByteBuffer(string: text) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let body: FormBody
        var isDone = false

        mutating func next() async -> ByteBuffer? {
            if isDone { return nil }
            isDone = true
            body.isRead.store(true, ordering: .releasing)
            return body.bytes
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }
}

/// A response from Apple as received, with unchecked content.
struct AppleResponse: Sendable, Equatable {
    let status: Int
    /// The body; empty for a 5xx, whose body is not read.
    let body: [UInt8]
    /// `Retry-After` in seconds, at most an hour. The date form of the header is ignored.
    var retryAfter: Duration?

    /// Maximum size in bytes, far larger than any response from Apple.
    static let longestBody = 262_144

    static func retryAfter(_ header: String?) -> Duration? {
        guard let header, let seconds = Int64(header), seconds >= 0 else { return nil }
        return .seconds(min(seconds, 3600))
    }
}

extension AppleResponse {
    /// Returns the JSON body of a 200. Throws the matching error for any other response.
    func json() throws(AppleCallError) -> JSONValue {
        guard status == 200 else { throw failure() }
        do throws(JSONError) {
            return try JSONValue(parsing: body)
        } catch {
            // The body is HTML, empty or truncated, or contains more than one JSON value.
            throw AppleCallError(.responseUnusable, detail: "no JSON: \(error.detail)")
        }
    }

    /// Returns the error for a response whose status is not 200.
    func failure() -> AppleCallError {
        if status == 429 || (status == 503 && retryAfter != nil) {
            return AppleCallError(.throttled, retryAfter: retryAfter, detail: "status \(status)")
        }
        if status >= 500 {
            return AppleCallError(.serverFailed, retryAfter: retryAfter, detail: "status \(status)")
        }
        // Only an OAuth error comes from Apple's service (RFC 6749 §5.2). A 400 or 404 without an OAuth error
        // can come from a proxy.
        guard (400..<500).contains(status), let document = try? JSONValue(parsing: body),
            let word = document["error"]?.string, !word.isEmpty
        else {
            return AppleCallError(.responseUnusable, detail: "status \(status)")
        }
        switch word {
        case "server_error", "temporarily_unavailable":
            return AppleCallError(.serverFailed, retryAfter: retryAfter, detail: "status \(status)")
        default:
            let description = document["error_description"]?.string ?? ""
            return AppleCallError(
                .rejected, appleError: AppleErrorCode(rawValue: word) ?? .other,
                detail: "status \(status) \(Self.shown(word)) \(Self.shown(description))")
        }
    }

    /// Shortens untrusted text, and replaces control characters for a terminal.
    private static func shown(_ text: String) -> String {
        String(text.unicodeScalars.prefix(200).map { (" "..."~").contains($0) ? Character($0) : "?" })
    }
}
