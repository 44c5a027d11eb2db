import HTTPTypes
import Hummingbird

extension RouterGroup where Context == EmulatorRequestContext {
    /// Adds one call of the control API.
    func control(
        _ method: HTTPRequest.Method, _ path: RouterPath,
        use answer: @escaping @Sendable (Call) async throws -> ControlAnswer
    ) {
        on(path, method: method) { request, context in
            let call = try await Call(request, context)
            return try await answer(call).response(call.form)
        }
    }
}
