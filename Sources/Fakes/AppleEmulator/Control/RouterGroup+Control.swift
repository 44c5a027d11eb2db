import EmulatorServer
import HTTPTypes
import Hummingbird

extension RouterGroup where Context == EmulatorRequestContext {
    /// Adds one call of the control API.
    func control(
        _ method: HTTPRequest.Method, _ path: RouterPath,
        use respond: @escaping @Sendable (ControlRequest) async throws -> ControlResponse
    ) {
        on(path, method: method) { request, context in
            let format = try ResponseFormat(of: request)
            return try await respond(ControlRequest(request, context)).response(format)
        }
    }
}
