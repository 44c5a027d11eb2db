import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Turns what a route throws into problem+json (RFC 9457).
struct ProblemMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: EmulatorRequestContext,
        next: (Request, EmulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as EmulatorError {
            return ControlAnswer.problem(error)
        } catch is NIOTooManyBytesError {
            return ControlAnswer.problem(
                EmulatorError(.bodyTooLarge, detail: "at most \(ControlInput.bodyLimit) bytes"))
        } catch let error as HTTPError where error.status == .notFound {
            return ControlAnswer.problem(
                EmulatorError(.pathNotFound, detail: "no such path, or not with this method"))
        }
    }
}
