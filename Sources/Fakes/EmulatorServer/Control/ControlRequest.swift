package import Hummingbird
import NIOCore

/// A request of the control API: path parameters, query and body.
package struct ControlRequest {
    package let query: Parameters
    private let parameters: Parameters
    private let body: [UInt8]

    /// Reads the whole body. Throws `NIOTooManyBytesError` for a body longer than `ControlInput.bodyLimit`.
    package init(_ request: Request, _ context: some RequestContext) async throws {
        query = request.uri.queryParameters
        parameters = context.parameters
        let buffer = try await request.body.collect(upTo: ControlInput.bodyLimit)
        body = Array(buffer.readableBytesView)
    }

    /// Reads the members of the body with `read`, and refuses all others.
    package func input<Value>(
        _ read: (inout ControlInput) throws(EmulatorError) -> Value
    ) throws(EmulatorError) -> Value {
        var input = try ControlInput(body)
        let value = try read(&input)
        try input.finish()
        return value
    }

    /// Refuses members, for requests whose body must be empty or an empty object.
    package func requireNoInput() throws(EmulatorError) {
        try ControlInput(body).finish()
    }

    package func pathPart(_ name: String) -> String { parameters.get(name) ?? "" }

    package func number(
        _ name: String, in range: ClosedRange<Int>, default fallback: Int
    ) throws(EmulatorError) -> Int {
        guard let text = query[Substring(name)] else { return fallback }
        guard let number = Int(text), range.contains(number) else {
            throw EmulatorError(.parameterMalformed, detail: "\(name): \(range)")
        }
        return number
    }
}
