import AsyncHTTPClient
public import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// The time and the pauses of a client. Tests replace it.
public protocol SiwaClock: Sendable {
    var now: Date { get }
    /// Returns after so many seconds. Throws `CancellationError` when the task is cancelled.
    func sleep(seconds: Int) async throws
}

/// The clock of the machine.
public struct SystemClock: SiwaClock {
    public init() {}

    public var now: Date { Date() }

    public func sleep(seconds: Int) async throws {
        try await Task.sleep(for: .seconds(seconds))
    }
}

/// HTTP to siwa: time limits, bounds and repetitions.
///
/// Follows no redirects and uses no proxies, so the key reaches only siwa.
final class Transport: Sendable {
    struct Call {
        var method: HTTPMethod
        var target: String
        var body: Data?
        var contentType = "application/json"
        /// True if a second execution changes nothing. Otherwise the call is repeated only if it was certainly
        /// not executed.
        var canRepeat = true
        var hasKey = true
        var timeout: Duration?
        var attempts: Int?
    }

    private struct NotSent: Error { let error: SiwaError }

    private struct Reply {
        let status: Int
        let headers: HTTPHeaders
        /// `nil` if the body is too large.
        let body: Data?
    }

    /// Bytes of a body. siwa's longest response, a page of 1,000 events, has about 1 MB.
    static let longestResponse = 4 << 20
    /// Seconds. A call waits no longer for a repetition: the caller gets the error with `retryAfter` in its place.
    static let longestPause = 5

    /// Its connections serve all clients of the process, and it needs no shutdown.
    private static let http: HTTPClient = {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        // siwa closes an idle connection after 60 seconds. A call at this moment would have no response.
        configuration.connectionPool.idleTimeout = .seconds(20)
        // A refused connection must become an error at once, because the repetitions are counted here.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }()

    let logger: Logger
    let clock: any SiwaClock
    let base: String
    private let authorization: String
    private let timeout: Duration
    private let attempts: Int
    private let tls: TLSConfiguration?
    private let isVersionKnown = Mutex(false)

    init(
        url: String, apiKey: String, timeout: Duration, attempts: Int, tls: TLSConfiguration?, logger: Logger,
        clock: any SiwaClock
    ) throws(SiwaError) {
        guard let parts = URLComponents(string: url), ["http", "https"].contains(parts.scheme),
            parts.host?.isEmpty == false, parts.query == nil, parts.fragment == nil, !url.contains("@")
        else { throw .misconfigured("the URL of siwa must be like https://siwa.internal: set SIWA_URL") }
        // The messages repeat neither the key nor the URL, which may contain a password.
        guard !apiKey.isEmpty, apiKey.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .misconfigured("the API key must be visible ASCII characters: set SIWA_API_KEY")
        }
        base = String(url.reversed().drop { $0 == "/" }.reversed())
        authorization = "Bearer \(apiKey)"
        (self.timeout, self.attempts, self.tls) = (timeout, attempts, tls)
        (self.logger, self.clock) = (logger, clock)
    }

    func send<Model: Decodable>(_ call: Call, as model: Model.Type) async throws -> Model {
        let data = try await send(call)
        do {
            return try JSONDecoder.siwa.decode(model, from: data)
        } catch {
            throw SiwaError("unexpected_response", status: 200, detail: "the response is no \(model)")
        }
    }

    /// Returns the JSON of a successful response, or nothing if it has none.
    @discardableResult func send(_ call: Call) async throws -> Data {
        let attempts = call.attempts ?? attempts
        var attempt = 1
        while true {
            let error: SiwaError
            var wasRefused = false
            do {
                return try await once(call)
            } catch let failure as NotSent {
                (error, wasRefused) = (failure.error, true)
            } catch let failure as SiwaError {
                error = failure
            }
            let pause = error.retryAfter ?? attempt
            wasRefused = wasRefused || error.code == "overloaded" || error.status == 429
            guard attempt < attempts, error.isTemporary, pause <= Self.longestPause,
                call.canRepeat || wasRefused
            else { throw error }
            attempt += 1
            // Without the path, which contains IDs of people.
            logger.info("a call of siwa failed (\(error)); attempt \(attempt) follows in \(pause) s")
            try await clock.sleep(seconds: pause)
        }
    }

    private func once(_ call: Call) async throws -> Data {
        var request = HTTPClientRequest(url: base + call.target)
        request.method = call.method
        request.tlsConfiguration = tls
        request.headers.add(name: "user-agent", value: "siwa-client-swift/\(Siwa.version)")
        request.headers.add(name: "accept", value: "application/json")
        if call.hasKey { request.headers.add(name: "authorization", value: authorization) }
        if let body = call.body {
            request.headers.add(name: "content-type", value: call.contentType)
            request.body = .bytes(body)
        }
        let reply: Reply
        do {
            reply = try await Self.exchange(request, within: call.timeout ?? timeout)
        } catch {
            try Task.checkCancellation()
            let failure = SiwaError(
                "unreachable",
                detail: "no complete response from \(base) (\(type(of: error))): is siwa running, "
                    + "and is SIWA_URL right?")
            let hasNoConnection =
                error is NIOConnectionError || error as? HTTPClientError == .connectTimeout
                || (error as? IOError)?.errnoCode == ECONNREFUSED
            throw hasNoConnection ? NotSent(error: failure) : failure
        }
        return try result(of: reply)
    }

    /// The time limit is for the whole response. A peer that sends a byte now and then would otherwise hold the
    /// caller for hours.
    private static func exchange(_ request: HTTPClientRequest, within limit: Duration) async throws -> Reply {
        try await withThrowingTaskGroup(of: Reply?.self) { group in
            group.addTask {
                let response = try await http.execute(request, deadline: .distantFuture)
                var body: Data?
                do {
                    body = Data(try await response.body.collect(upTo: longestResponse).readableBytesView)
                } catch is NIOTooManyBytesError {}
                return Reply(status: Int(response.status.code), headers: response.headers, body: body)
            }
            group.addTask {
                try await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let reply = try await group.next() ?? nil else { throw HTTPClientError.deadlineExceeded }
            return reply
        }
    }

    private func result(of reply: Reply) throws(SiwaError) -> Data {
        let status = reply.status
        checkVersion(reply.headers.first(name: "siwa-api-version") ?? "")
        if status == 204 { return Data() }
        let kind = reply.headers.first(name: "content-type")?.prefix { $0 != ";" }
            .trimmingCharacters(in: .whitespaces).lowercased()
        let isJSON = kind == "application/json" || kind == "application/problem+json"
        let data = isJSON ? reply.body : nil
        if (200..<300).contains(status), let data { return data }
        let problem = data.flatMap { try? JSONDecoder().decode(JSONValue.self, from: $0).object } ?? [:]
        var detail = "the response is not siwa's (\(kind ?? "no content type"))"
        var code = status >= 500 || status == 429 ? "unavailable" : "unexpected_response"
        // OAuth names the code `error` (RFC 6749 §5.2).
        if status >= 400, let known = problem["code"]?.string ?? problem["error"]?.string {
            (code, detail) = (known, problem["detail"]?.string ?? "refused")
        }
        let pause = reply.headers.first(name: "retry-after") ?? ""
        throw SiwaError(
            code, status: status, detail: detail, requestID: reply.headers.first(name: "x-request-id"),
            retryAfter: pause.hasPrefix("0") ? nil : Self.number(pause), cause: problem["cause"]?.string,
            reAttest: problem["re_attest"]?.boolean)
    }

    private func checkVersion(_ text: String) {
        guard let version = Self.number(text),
            isVersionKnown.withLock({ isKnown in
                defer { isKnown = true }
                return !isKnown
            }), version != Siwa.apiVersion
        else { return }
        let old = version > Siwa.apiVersion ? "SiwaClient" : "siwa"
        logger.warning(
            "siwa's interface has version \(version), and SiwaClient needs \(Siwa.apiVersion): upgrade \(old)"
        )
    }

    /// A number of 1 to 9 digits, and nothing else that `Int` reads.
    private static func number(_ text: String) -> Int? {
        text.utf8.count <= 9 && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }
}
