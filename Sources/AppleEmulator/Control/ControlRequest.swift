import HTTPTypes
import Hummingbird
import NIOCore

/// A request of the control API: path parameters, query, body, and the format of the response.
struct ControlRequest {
    let format: ResponseFormat
    let query: Parameters
    private let parameters: Parameters
    private let body: [UInt8]

    /// Reads the whole body. Throws `.parameterMalformed`, and `NIOTooManyBytesError` for a body longer than
    /// `ControlInput.bodyLimit`.
    init(_ request: Request, _ context: EmulatorRequestContext) async throws {
        format = try ResponseFormat(of: request)
        query = request.uri.queryParameters
        parameters = context.parameters
        let buffer = try await request.body.collect(upTo: ControlInput.bodyLimit)
        body = Array(buffer.readableBytesView)
    }

    /// Reads the members of the body with `read`, and refuses all others.
    func input<Value>(
        _ read: (inout ControlInput) throws(EmulatorError) -> Value
    ) throws(EmulatorError) -> Value {
        var input = try ControlInput(body)
        let value = try read(&input)
        try input.finish()
        return value
    }

    /// For requests whose body must be empty or an empty object.
    func requireNoInput() throws(EmulatorError) {
        try ControlInput(body).finish()
    }

    func pathPart(_ name: String) -> String { parameters.get(name) ?? "" }

    func number(_ name: String, in range: ClosedRange<Int>, default fallback: Int) throws(EmulatorError)
        -> Int
    {
        guard let text = query[Substring(name)] else { return fallback }
        guard let number = Int(text), range.contains(number) else {
            throw EmulatorError(.parameterMalformed, detail: "\(name): \(range)")
        }
        return number
    }
}

extension RouterGroup where Context == EmulatorRequestContext {
    /// Adds one call of the control API.
    func control(
        _ method: HTTPRequest.Method, _ path: RouterPath,
        use respond: @escaping @Sendable (ControlRequest) async throws -> ControlResponse
    ) {
        on(path, method: method) { request, context in
            let control = try await ControlRequest(request, context)
            return try await respond(control).response(control.format)
        }
    }
}
