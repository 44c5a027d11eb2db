public import AsyncHTTPClient
public import KeySets
import NIOCore
import NIOHTTP1
import TraceExport

/// Fetches a key set over HTTP: from Apple (`GET /auth/keys`) or another URL, for example Google's.
///
/// The source only transfers data; `KeySets` checks the response. The HTTP client is shared; its owner
/// creates it with `HTTPClient.Configuration.apple` and shuts it down.
public struct HTTPKeySetSource: KeySetSource {
    private let client: HTTPClient
    private let url: String
    private let total: Duration
    private let clock: AppleClock?

    /// Creates a source that fetches Apple's key set.
    ///
    /// - Parameter clock: Records Apple's time from each response.
    public init(
        client: HTTPClient, endpoints: AppleEndpoints = .apple, limits: AppleTimeLimits = AppleTimeLimits(),
        clock: AppleClock? = nil
    ) {
        self.init(client: client, url: endpoints.keySet, limits: limits, clock: clock)
    }

    /// Creates a source that fetches a key set from any other URL. An invalid URL results in `.unreachable`.
    public init(
        client: HTTPClient, url: String, limits: AppleTimeLimits = AppleTimeLimits(),
        clock: AppleClock? = nil
    ) {
        self.client = client
        self.url = url
        self.clock = clock
        total = limits.total
    }

    public func fetch(ifNoneMatch entityTag: String?) async throws -> KeySetResponse {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: "User-Agent", value: "siwa")
        if let entityTag { request.headers.add(name: "If-None-Match", value: entityTag) }
        return try await exchange(request)
    }

    private func exchange(_ request: HTTPClientRequest) async throws -> KeySetResponse {
        let start = ContinuousClock.now
        defer { OutgoingRequestTime.record(request.url, since: start) }
        return try await OutgoingRequestSpan.with(.fetchKeys, request.url) { span in
            let response = try await TotalTime(limit: total).bound(
                failure: KeySetFetchError(.timedOut, detail: "total")
            ) {
                try await ask(request)
            }
            OutgoingRequestSpan.note(status: response.status, on: span)
            return response
        }
    }

    private func ask(_ request: HTTPClientRequest) async throws -> KeySetResponse {
        do {
            let response = try await client.execute(request, timeout: TimeAmount(total))
            clock?.notice(
                date: response.headers.first(name: "Date"), age: response.headers.first(name: "Age"))
            // A client configured differently may follow redirects,
            // but a response from another host must not be accepted.
            guard response.history.count <= 1 else {
                throw KeySetFetchError(.statusUnexpected, detail: "redirected")
            }
            // The source reads only the body of a 200. If a body is not read, the client closes the
            // connection.
            let body =
                response.status == .ok
                ? try await response.body.collect(upTo: KeySetResponse.longestBody) : nil
            // In a cancelled task, reading a body ends early without throwing.
            try Task.checkCancellation()
            return KeySetResponse(response, body: body.map { Array(buffer: $0) } ?? [])
        } catch {
            throw Self.named(error)
        }
    }

    private static func named(_ error: any Error) -> any Error {
        switch error {
        case is CancellationError, is KeySetFetchError:
            error
        case is NIOTooManyBytesError:
            KeySetFetchError(.tooLarge)
        case let error as HTTPClientError where timeouts.contains(error):
            KeySetFetchError(.timedOut, detail: error.shortDescription)
        default:
            KeySetFetchError(.unreachable, detail: "\(error)")
        }
    }

    private static let timeouts: [HTTPClientError] = [
        .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .tlsHandshakeTimeout,
        .getConnectionFromPoolTimeout, .httpProxyHandshakeTimeout, .socksHandshakeTimeout,
    ]
}

extension KeySetResponse {
    fileprivate init(_ response: HTTPClientResponse, body: [UInt8]) {
        let cacheControl = response.headers["Cache-Control"]
        self.init(
            status: Int(response.status.code),
            body: body,
            contentType: response.headers.first(name: "Content-Type"),
            entityTag: response.headers.first(name: "ETag"),
            cacheControl: cacheControl.isEmpty ? nil : cacheControl.joined(separator: ", "),
            age: response.headers.first(name: "Age"))
    }
}
