import ForeignPages
import HTTPTypes
import Hummingbird

/// Refuses what pages of other sites send from a developer's browser: requests under a name that is not the emulator's, and
/// forms that are not from its own pages.
struct ForeignPageMiddleware: RouterMiddleware {
    let check: ForeignPageCheck

    func handle(
        _ request: Request, context: EmulatorRequestContext,
        next: (Request, EmulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        let host = request.head.authority.map { [$0] } ?? []
        do throws(ForeignPageRefusal) {
            try check.check(host: host)
            if request.method != .get, request.method != .head {
                try check.check(origin: request.headers[values: .origin], host: host)
            }
        } catch {
            switch error {
            case .host: throw EmulatorError(.hostRefused, detail: Self.hostDetail)
            case .origin:
                throw EmulatorError(.originRefused, detail: "a page of another site sent this (Origin)")
            }
        }
        return try await next(request, context)
    }

    private static let hostDetail =
        "Host names another server than localhost, 127.0.0.1, [::1] and those of --allowed-host; call it by one of "
        + "these, or start it with --allowed-host and this name"
}
