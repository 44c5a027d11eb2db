import Foundation
import Hummingbird
import Logging
import ServiceLifecycle

/// The backend's part of Sign in with Apple, on Hummingbird.
///
/// Environment: SIWA_URL, SIWA_KEY (the API key), CLIENT_ID (the app's bundle ID), and HOST and PORT to listen at,
/// 127.0.0.1 and 8000 by default. With WEBHOOK_SECRETS, events come to POST /siwa, and not from the feed: one secret,
/// or two with a space between them during a rotation.
@main struct App {
    static func main() async {
        do {
            try await run(ProcessInfo.processInfo.environment)
        } catch {
            FileHandle.standardError.write(Data("cannot start: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ variables: [String: String]) async throws {
        let missing = ["SIWA_URL", "SIWA_KEY", "CLIENT_ID"].filter { variables[$0, default: ""].isEmpty }
        guard missing.isEmpty else {
            throw Siwa.Misconfigured(
                description: "missing environment variables: \(missing.joined(separator: ", "))")
        }
        let webhooks: WebhookVerifier?
        do {
            let secrets = variables["WEBHOOK_SECRETS"] ?? ""
            webhooks = secrets.isEmpty ? nil : try WebhookVerifier(secrets: secrets)
        } catch {
            throw Siwa.Misconfigured(description: "WEBHOOK_SECRETS: \(error)")
        }
        let backend = Backend(
            siwa: Siwa(url: variables["SIWA_URL"] ?? "", key: variables["SIWA_KEY"] ?? ""),
            clientID: variables["CLIENT_ID"] ?? "", passwords: Passwords(variables["PASSWORD_USERS"] ?? ""))
        let router = Router()
        router.middlewares.add(Responses())
        router.post("nonce") { _, _ in try await backend.makeNonce() }
        for path in ["challenges", "keys"] {
            router.post("app-attest/\(path)") { request, context in
                try await backend.appAttest(path, request.decode(as: AppAttestRequest.self, context: context))
            }
        }
        router.post("signin") { request, context in
            let body = try await request.decode(as: AppRequest.self, context: context)
            return try await backend.signIn(body, session: request.session)
        }
        router.post("password") { request, context in
            try await backend.signInWithPassword(request.decode(as: AppRequest.self, context: context))
        }
        router.post("signout") { request, _ in await backend.signOut(session: request.session) }
        router.get("me") { request, _ in try await backend.showUser(session: request.session) }
        router.delete("account") { request, _ in try await backend.deleteUser(session: request.session) }
        router.post("google-link") { request, context in
            let body = try await request.decode(as: LinkRequest.self, context: context)
            return try await backend.googleLink(body, session: request.session)
        }
        router.get("links") { request, _ in try await backend.links(session: request.session) }
        router.delete("links/:id") { request, context in
            try await backend.unlink(context.parameters.get("id") ?? "", session: request.session)
        }

        if let webhooks {
            router.post("siwa") { request, _ in try await backend.takeWebhook(request, by: webhooks) }
        }

        do {
            try await backend.beginFeed()
        } catch let refused as Refused where refused.code == "try_again" {
            // siwa does not answer. The feed begins later, and then the backend takes sign-ins.
        }
        let host = variables["HOST"] ?? "127.0.0.1"
        let port = variables["PORT"].flatMap { Int($0) } ?? 8000
        let app = Application(
            router: router, configuration: .init(address: .hostname(host, port: port)),
            services: [EventLoop(backend: backend, endsAtBeginning: webhooks != nil)])
        try await app.runService()
    }
}

/// Reads events until the program stops, or with webhooks until the feed has begun.
struct EventLoop: Service {
    let backend: Backend
    let endsAtBeginning: Bool

    func run() async {
        let logger = Logger(label: "events")
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                if endsAtBeginning, await backend.feedHasBegun { break }
                do {
                    try await backend.readEvents()
                } catch {
                    guard !Task.isCancelled else { return }
                    logger.error("reading events failed; the next attempt has the same cursor: \(error)")
                    try? await Task.sleep(for: .seconds(2))
                }
            }
        }
        // The end of a service would end the program.
        try? await gracefulShutdown()
    }
}

/// Keeps sessions and nonces out of caches, and gives all refusals the same format.
struct Responses<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            var response = try await next(request, context)
            response.headers[.cacheControl] = "no-store"
            return response
        } catch let error as HTTPError {
            throw Refused(error.status, error.status == .notFound ? "not_found" : "body_not_json")
        }
    }
}

extension Request {
    /// The token of the app's session.
    var session: String? {
        headers[.authorization].flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
    }
}
