import EmulatorServer
import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON

/// A control API response in all formats. JSON ends with a line break, for terminals. Text is the value
/// alone, because scripts compare it.
struct ControlResponse {
    let json: JSONObject
    /// The response value that scripts need most often.
    let text: String
    /// The body of the sign-in request; only for identity tokens.
    var signIn: JSONObject?
    /// The body of the request that registers the key; only for attestations.
    var registration: JSONObject?

    func response(_ format: ResponseFormat, _ status: HTTPResponse.Status) -> Response {
        switch format {
        case .json: .json(json, status: status)
        case .signIn: .json(signIn ?? json, status: status)
        case .registration: .json(registration ?? json, status: status)
        case .text: .uncached(status, "text/plain;charset=utf-8", Array(text.utf8))
        }
    }
}

/// Response format of the control API: JSON, or plain text for shell scripts. Identity tokens and
/// attestations have a third format: the body of the request that sends them to the service, which is a
/// sign-in or a key registration.
enum ResponseFormat: String, CaseIterable {
    case json, text
    case signIn = "sign-in"
    case registration

    /// Reads the format from `?format=`, otherwise from `Accept: text/plain`. The default is JSON. Throws
    /// `.parameterMalformed` for an unknown format.
    init(of request: Request) throws(EmulatorError) {
        if let wanted = request.uri.queryParameters["format"] {
            guard let format = ResponseFormat(rawValue: String(wanted)) else {
                throw EmulatorError(
                    .parameterMalformed,
                    detail: "format: json or text, sign-in for a token, registration for a key")
            }
            self = format
        } else {
            self = request.headers[.accept]?.hasPrefix("text/plain") == true ? .text : .json
        }
    }
}

extension ControlAPI<EmulatorRequestContext> {
    /// Adds a call.
    ///
    /// - Parameters:
    ///   - format: The call's own format besides JSON and text.
    ///   - example: Members of an example body.
    ///   - read: Reads all parameters and members, and changes nothing.
    func control<Value: Sendable>(
        _ method: HTTPRequest.Method, _ path: String, _ summary: String, status: HTTPResponse.Status = .ok,
        format: ResponseFormat? = nil, example: JSONValue? = nil,
        reading read: @escaping @Sendable (inout ControlInput) throws(EmulatorError) -> Value,
        use respond: @escaping @Sendable (Value) async throws -> ControlResponse
    ) {
        let formats = [ResponseFormat.text] + (format.map { [$0] } ?? [])
        add(
            method, path, summary, status: status, formats: formats.map(\.rawValue), example: example,
            reading: read
        ) { request, value in
            let format = try ResponseFormat(of: request)
            return try await respond(value).response(format, status)
        }
    }

    /// Adds a call without parameters and members.
    func control(
        _ method: HTTPRequest.Method, _ path: String, _ summary: String,
        use respond: @escaping @Sendable () async throws -> ControlResponse
    ) {
        control(method, path, summary) { _ in
        } use: { _ in
            try await respond()
        }
    }
}

/// A request context that includes the connection, so that a fault can close it.
struct EmulatorRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
