import HTTPTypes
import Hummingbird

/// Answers only after the state is in the file, so that what a caller was told is still true after a crash.
struct SavingMiddleware: RouterMiddleware {
    let saver: StateSaver

    func handle(
        _ request: Request, context: EmulatorRequestContext,
        next: (Request, EmulatorRequestContext) async throws -> Response
    ) async throws -> Response {
        // Of the requests that only read, one changes something: it opens a page, which no restart keeps.
        guard request.method != .get, request.method != .head else { return try await next(request, context) }
        let answer: Response
        do {
            answer = try await next(request, context)
        } catch {
            // A cut connection, perhaps after the work was done.
            try await saver.save()
            throw error
        }
        try await saver.save()
        return answer
    }
}
