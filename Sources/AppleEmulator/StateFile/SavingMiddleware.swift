import EmulatorServer
import HTTPTypes
import Hummingbird

/// Sends responses only after the state is in the file, so that they are still true after a crash.
struct SavingMiddleware: RouterMiddleware {
    let saver: StateSaver

    func handle(
        _ request: Request, context: EmulatorRequestContext,
        next: (Request, EmulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        // The only GET request that changes something opens a page of the web flow, and open pages are not
        // saved.
        guard request.method != .get, request.method != .head else { return try await next(request, context) }
        let response: Response
        do {
            response = try await next(request, context)
        } catch {
            // The connection may have been cut after the work was done.
            try await saver.save()
            throw error
        }
        try await saver.save()
        return response
    }
}
