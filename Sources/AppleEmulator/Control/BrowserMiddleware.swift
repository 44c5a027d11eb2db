import HTTPTypes
import Hummingbird

/// Refuses calls that a web page made.
///
/// A page in a developer's browser can post to loopback without being able to read the answer, and the
/// control API asks for no content type, so that `curl -d` works. Browsers always send `Origin` with such a
/// request; tools never do.
struct BrowserMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: EmulatorRequestContext,
        next: (Request, EmulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        guard request.headers[.origin] == nil else {
            throw EmulatorError(.browserRefused, detail: "the control API is not for web pages")
        }
        return try await next(request, context)
    }
}
