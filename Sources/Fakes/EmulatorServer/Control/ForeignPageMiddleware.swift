package import Encodings
import HTTPTypes
package import Hummingbird

/// Refuses requests that pages of other sites send from a developer's browser: requests with a foreign
/// `Host`, and forms that are not from the emulator's own pages.
package struct ForeignPageMiddleware<Context: RequestContext>: RouterMiddleware {
    private let check: ForeignPageCheck

    package init(hosts: AllowedHosts) { check = ForeignPageCheck(hosts: hosts) }

    package func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let host = request.head.authority.map { [$0] } ?? []
        do throws(ForeignPageRefusal) {
            try check.check(host: host)
            if request.method != .get, request.method != .head {
                let sites = HTTPField.Name("Sec-Fetch-Site").map { request.headers[values: $0] } ?? []
                try check.check(
                    RequestSender(origin: request.headers[values: .origin], site: sites, host: host))
            }
        } catch {
            switch error {
            case .host: throw EmulatorError(.hostRefused, detail: Self.hostDetail)
            case .origin:
                throw EmulatorError(
                    .originRefused, detail: "Origin is another site; use the emulator's own pages")
            }
        }
        return try await next(request, context)
    }

    private static var hostDetail: String {
        "Host is not localhost, 127.0.0.1, [::1] or a name of --allowed-host; use one of these, or start the "
            + "emulator with --allowed-host and this name"
    }
}

/// Refuses control calls from web pages.
///
/// A web page in a developer's browser can post to loopback, although it cannot read the response. Checking
/// the content type is no defense, because the control API requires none, so that `curl -d` works. But
/// browsers always send `Origin` with such a request, and command-line tools do not.
package struct BrowserMiddleware<Context: RequestContext>: RouterMiddleware {
    package init() {}

    package func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard request.headers[.origin] == nil else {
            throw EmulatorError(.browserRefused, detail: "the control API is not for web pages")
        }
        return try await next(request, context)
    }
}
