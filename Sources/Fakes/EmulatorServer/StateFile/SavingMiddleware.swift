import HTTPTypes
package import Hummingbird

/// Sends responses only after the state is in the file, so that they are still true after a crash.
package struct SavingMiddleware<Context: RequestContext>: RouterMiddleware {
    private let saver: StateSaver
    private let changingPaths: [String]

    /// - Parameter changingPaths: Prefixes of the paths whose GET requests change the saved state.
    package init(saver: StateSaver, changingPaths: [String]) {
        (self.saver, self.changingPaths) = (saver, changingPaths)
    }

    package func handle(
        _ request: Request, context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard changes(request) else { return try await next(request, context) }
        let response: Response
        do {
            response = try await next(request, context)
        } catch {
            // The state may have changed although the request failed: the connection was cut afterwards, or
            // the response at a redirect URI was refused and ended a link.
            try await saver.save()
            throw error
        }
        try await saver.save()
        return response
    }

    private func changes(_ request: Request) -> Bool {
        guard request.method == .get || request.method == .head else { return true }
        return changingPaths.contains { request.uri.path.hasPrefix($0) }
    }
}
