import HTTPTypes
package import Hummingbird

/// Refuses control calls from web pages.
///
/// A web page in a developer's browser can post to loopback, although it cannot read the response. The
/// control API requires no content type, so that `curl -d` works. Browsers always send `Origin` with such a
/// request; command-line tools do not.
package struct BrowserMiddleware<Context: RequestContext>: RouterMiddleware {
    package init() {}

    package func handle(
        _ request: Request, context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard request.headers[.origin] == nil else {
            throw EmulatorError(.browserRefused, detail: "the control API is not for web pages")
        }
        return try await next(request, context)
    }
}
