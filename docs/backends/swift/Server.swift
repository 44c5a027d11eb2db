import Foundation
import Hummingbird
import SiwaClient

/// A request of the app, or of siwa.
struct Call: Sendable {
    let headers: [(name: String, value: String)]
    let body: Data
    /// The segment `:id` of the path.
    let id: String

    /// The JSON of the body; `null` for another body.
    var form: JSONValue { (try? JSONDecoder().decode(JSONValue.self, from: body)) ?? .null }

    /// The token of the app's session.
    var session: String? {
        let field = headers.first { $0.name == "authorization" }?.value
        return field.flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
    }
}

/// The result becomes the JSON of the response.
typealias Route = (
    method: HTTPRequest.Method, path: RouterPath,
    handle: @Sendable (Call) async throws -> any Encodable & Sendable
)

/// Serves the routes until the program is stopped.
func serve(_ routes: [Route], host: String, port: Int) async throws {
    let router = Router()
    router.middlewares.add(Refusals())
    for route in routes {
        router.on(route.path, method: route.method) { request, context in
            let body = try await request.body.collect(upTo: 65_536)
            let call = Call(
                headers: request.headers.map { ($0.name.canonicalName, $0.value) },
                body: Data(body.readableBytesView), id: context.parameters.get("id") ?? "")
            let data = try await JSONEncoder.siwa.encode(route.handle(call))
            return Response(status: .ok, body: .init(byteBuffer: .init(bytes: data)))
        }
    }
    let app = Application(router: router, configuration: .init(address: .hostname(host, port: port)))
    try await app.runService()
}

/// Gives all refusals one form, and keeps sessions and nonces out of caches.
private struct Refusals<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch let error as SiwaError {
            if error.forApp.status >= 500 { context.logger.error("a call of siwa failed: \(error)") }
            response = Self.response(error)
            if response.status == .serviceUnavailable {
                response.headers[.retryAfter] = "\(error.retryAfter ?? 1)"
            }
        } catch let error as HTTPError {
            response = Self.response(
                SiwaError(
                    error.status == .notFound ? "not_found" : "body_malformed", status: error.status.code))
        }
        response.headers[.contentType] = "application/json"
        response.headers[.cacheControl] = "no-store"
        return response
    }

    private static func response(_ error: SiwaError) -> Response {
        let (status, json) = error.forApp
        return Response(status: .init(code: status), body: .init(byteBuffer: .init(string: json)))
    }
}
