import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Converts errors of routes to problem+json (RFC 9457).
struct ProblemMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: EmulatorRequestContext,
        next: (Request, EmulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let problem = ControlResponse.problem(try Self.refusal(error))
            // A body after this response head would be read as the next response (RFC 9110 §9.3.2).
            return request.method == .head ? problem.createHeadResponse() : problem
        }
    }

    /// Rethrows errors that are not refusals.
    private static func refusal(_ error: any Error) throws -> EmulatorError {
        switch error {
        case let error as EmulatorError: return error
        case is NIOTooManyBytesError:
            return EmulatorError(.bodyTooLarge, detail: "at most \(ControlInput.bodyLimit) bytes")
        case let error as HTTPError where error.status == .notFound:
            return EmulatorError(.pathNotFound, detail: "there is no such path with this method")
        default: throw error
        }
    }
}
