// SiwaHummingbird makes siwa's refusals the responses of a Hummingbird server. It owns no calls: SiwaClient does.

import HTTPTypes
public import Hummingbird
import Logging
import NIOCore
import SiwaClient

/// Makes each `SiwaError` that a route throws the app's response: `router.middlewares.add(SiwaErrors())`.
///
/// A refusal keeps its status and code, such as 401 `{"error":"token_expired"}`. If siwa does not respond, the app gets 503
/// `try_again` with `Retry-After`. A mistake of the backend, such as a wrong API key, is 500 `internal_error`. Statuses from
/// 500 are logged. No cache may store these responses.
public struct SiwaErrors<Context: RequestContext>: RouterMiddleware {
    public init() {}

    public func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as SiwaError {
            let (status, json) = error.forApp
            if status >= 500 { context.logger.error("a call of siwa failed: \(error)") }
            var headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
            if status == 503 { headers[.retryAfter] = "\(error.retryAfter ?? 1)" }
            let body = ResponseBody(byteBuffer: ByteBuffer(string: json))
            return Response(status: .init(code: status), headers: headers, body: body)
        }
    }
}
