import HTTPTypes
package import Hummingbird
import NIOCore

/// Converts errors of routes to a problem (RFC 9457), or to a page for a browser.
package struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    private let page: (@Sendable (EmulatorError) -> Response)?

    /// - Parameter page: The page for a browser; `nil` sends problems to browsers too.
    package init(page: (@Sendable (EmulatorError) -> Response)?) { self.page = page }

    package func handle(
        _ request: Request, context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let refusal = try Self.refusal(error)
            let isForBrowser = request.headers[.accept]?.contains("text/html") == true
            let response = page.flatMap { isForBrowser ? $0(refusal) : nil } ?? .problem(refusal)
            // A body after this response head would be read as the next response (RFC 9110 §9.3.2).
            return request.method == .head ? response.createHeadResponse() : response
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
