import AsyncHTTPClient
import EmulatorServer
import Encodings
import NIOCore
import NIOHTTP1
import StrictJSON

/// Sends Google's requests to the authorization server, and records each of them. It follows no redirects,
/// and limits the time and size of responses.
struct ServerClient: Sendable {
    static let timeout = TimeAmount.seconds(15)
    /// Maximum response size in bytes.
    static let longestResponse = 262_144

    /// Outcome of a request.
    struct Response: Sendable {
        /// Response status; `nil` if no response arrived.
        let status: Int?
        let body: [UInt8]

        var json: JSONValue? { try? JSONValue(parsing: body, limits: JSONLimits(depth: 16, members: 256)) }

        /// Value of `error` in an OAuth response, or a code for any other failure.
        var error: String {
            guard let status else { return "unreachable" }
            return json?["error"]?.string ?? json?["code"]?.string ?? json?["err"]?.string
                ?? "status_\(status)"
        }
    }

    enum Body: Sendable {
        case form([(name: String, value: String)])
        case json(JSONObject)
        case token(String)
    }

    let state: GoogleState

    /// Sends a request. If it fails, the returned response has no status.
    ///
    /// - Parameters:
    ///   - title: Purpose of the request, for display on the page.
    ///   - place: Place whose faults apply to the request.
    func post(
        _ step: ExchangeStep, _ title: String, _ url: String, _ body: Body, bearer: String? = nil,
        at place: FaultPlace? = nil
    ) async -> Response {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        if let bearer { request.headers.add(name: "Authorization", value: "Bearer \(bearer)") }
        request.headers.add(name: "Content-Type", value: body.contentType)
        request.body = .bytes(ByteBuffer(bytes: body.bytes))
        let credentials = bearer == nil ? "" : "Authorization: Bearer …\n"
        return await send(
            request, step, title, shown: "POST \(url)\n\(credentials)\(body.contentType)\n\n\(body.shown)",
            at: place)
    }

    func get(_ step: ExchangeStep, _ title: String, _ url: String) async -> Response {
        await send(HTTPClientRequest(url: url), step, title, shown: "GET \(url)", at: nil)
    }

    private func send(
        _ request: HTTPClientRequest, _ step: ExchangeStep, _ title: String, shown: String,
        at place: FaultPlace?
    ) async -> Response {
        let start = state.exchangeStart
        var requestID: String?
        func finish(_ response: Response, words: String? = nil) -> Response {
            let text = words ?? "\(response.status ?? 0)\n\(ShownText.body(response.body))"
            state.record(
                step, title, request: shown, response: text, status: response.status, since: start,
                requestID: requestID)
            return response
        }
        let fault = place.flatMap { place in state.update { $0.faults.take(place) } }
        if let delay = fault?.delayMilliseconds, delay > 0 { await state.wait(delay) }
        guard fault?.loss != .request else {
            return finish(Response(status: nil, body: []), words: "not sent, because of a fault")
        }
        var sent = request
        sent.headers.add(name: "Accept", value: "application/json")
        sent.headers.add(name: "User-Agent", value: "fake-google")
        let complete = sent
        do {
            let (response, id) = try await HTTPClient.withHTTPClient(configuration: Self.configuration) {
                let response = try await $0.execute(complete, timeout: Self.timeout)
                let body = try await response.body.collect(upTo: Self.longestResponse)
                return (
                    Response(status: Int(response.status.code), body: Array(buffer: body)),
                    response.headers.first(name: "X-Request-ID")
                )
            }
            requestID = id
            guard fault?.loss != .response else {
                return finish(
                    Response(status: nil, body: []), words: "the answer is lost, because of a fault")
            }
            return finish(response)
        } catch {
            return finish(Response(status: nil, body: []), words: "no answer (\(error))")
        }
    }

    private static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(connect: .seconds(5), read: .seconds(10))
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}

extension ServerClient.Body {
    fileprivate var contentType: String {
        switch self {
        case .form: "application/x-www-form-urlencoded"
        case .json: "application/json"
        case .token: "application/secevent+jwt"
        }
    }

    fileprivate var bytes: [UInt8] {
        switch self {
        case .form(let fields): Array(FormEncoding.encode(fields).utf8)
        case .json(let object): JSONValue.object(object).serialized()
        case .token(let token): Array(token.utf8)
        }
    }

    fileprivate var shown: String {
        switch self {
        case .form(let fields): ShownText.fields(fields)
        case .json(let object): ShownText.body(JSONValue.object(object).serialized())
        case .token(let token): ShownText.token(token) ?? token
        }
    }
}
