import Foundation
import Hummingbird
import SiwaClient
import SiwaHummingbird

/// A request of the app, or of siwa.
struct Call: Sendable {
    let headers: [(name: String, value: String)]
    let body: Data
    /// The segment `:id` of the path.
    let id: String

    /// The JSON of the body; `null` for another body.
    var form: JSONValue { (try? JSONDecoder().decode(JSONValue.self, from: body)) ?? .null }

    /// A member of the form that is a text.
    subscript(_ name: String) -> String? { form[name]?.string }

    /// The token of the app's session.
    var session: String? {
        let field = headers.first { $0.name == "authorization" }?.value
        return field.flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
    }
}

/// A result that becomes the JSON of the response.
typealias Answer = any Encodable & Sendable

typealias Route = (
    method: HTTPRequest.Method, path: RouterPath, handle: @Sendable (Call) async throws -> Answer
)

struct Done: Encodable {}

/// The part of siwa's report on an erasure that the app needs.
struct Deletion: Encodable {
    let user_must_revoke: Bool
    let instructions: String?
}

@main enum Program {
    static func main() async {
        let variables = ProcessInfo.processInfo.environment
        do {
            let app = App(
                siwa: try Siwa(), users: Users(passwords: variables["PASSWORD_USERS"] ?? ""),
                clientID: variables["SIWA_CLIENT_ID"] ?? "")
            try await app.siwa.check()
            try await app.run(
                hasWebhooks: variables["SIWA_WEBHOOK_SECRETS"]?.isEmpty == false,
                host: variables["HOST"] ?? "127.0.0.1", port: variables["PORT"].flatMap { Int($0) } ?? 8000)
        } catch {
            FileHandle.standardError.write(Data("cannot start: \(error)\n".utf8))
            exit(1)
        }
    }
}

/// Serves the routes until the program is stopped.
func serve(_ routes: [Route], host: String, port: Int) async throws {
    let router = Router()
    router.middlewares.add(SiwaErrors())
    router.middlewares.add(Responses())
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

/// Keeps sessions and nonces out of caches, and gives Hummingbird's own refusals the form of siwa's.
private struct Responses<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            var response = try await next(request, context)
            response.headers[.contentType] = "application/json"
            response.headers[.cacheControl] = "no-store"
            return response
        } catch let error as HTTPError {
            throw SiwaError(
                error.status == .notFound ? "not_found" : "body_malformed", status: error.status.code)
        }
    }
}
