import EmulatorServer
import Hummingbird

/// Sends responses only after the state is in the file, so that they are still true after a crash.
struct SavingMiddleware: RouterMiddleware {
    let saver: StateSaver

    func handle(
        _ request: Request, context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        guard Self.changes(request) else { return try await next(request, context) }
        let response: Response
        do {
            response = try await next(request, context)
        } catch {
            // A refused answer at a redirect URI has ended the link that was begun.
            try await saver.save()
            throw error
        }
        try await saver.save()
        return response
    }

    /// Of the GET requests, only the answers at redirect URIs change what is kept.
    private static func changes(_ request: Request) -> Bool {
        guard request.method == .get || request.method == .head else { return true }
        return request.uri.path.hasPrefix("/r/") || request.uri.path.hasPrefix("/a/")
    }
}
