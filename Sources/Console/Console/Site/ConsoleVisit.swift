import AppleAccounts
import Encodings
import HTTPEngine
import NIOCore
import NIOHTTP1
import OAuth
import Pages

/// One console request, from its checks to its response. The checks have this order: host and origin, files,
/// path and method, session, form, form token, the database's record of ended sessions, access to the page.
/// Without a session, the console decodes no form except the sign-in form.
struct ConsoleVisit: Sendable {
    typealias Handling = (exchange: any HTTPExchange, source: ResponseSource)

    let site: ConsoleSite
    let head: HTTPRequestHead
    let fields: RequestFields
    let body: [UInt8]
    let startedAt: NIODeadline
    let path: Substring
    let query: Substring?
    /// Requester address; `nil` if it is unknown.
    let address: RequesterAddress?
    let requestID: String

    init(site: ConsoleSite, incoming: IncomingRequest, target: RequestTarget, address: RequesterAddress?) {
        self.site = site
        (head, fields, body) = (incoming.head, incoming.fields, incoming.bodyBytes)
        startedAt = incoming.startedAt
        (path, query) = (target.path, target.query)
        self.address = address
        requestID = RequestID.accept(incoming.fields.requestID) ?? RequestID.make()
    }

    /// The path below the console's root.
    var pagePath: Substring {
        let rest = path.dropFirst(ConsoleSite.root.utf8.count)
        return path == "/" || rest.isEmpty ? "/" : rest
    }

    var now: Moment { site.now() }

    // Begins a request on the event loop.

    func begin() -> Handling {
        if let code = site.access.refusal(of: head) { return answer(refusal(code), route: "none") }
        if let file = ConsoleAssets.file(at: path), isReading {
            let reply = ConsoleReply(contentType: file.contentType, body: file.bytes, isImmutable: true)
            return answer(reply, route: "none", isLogged: false)
        }
        guard isReading || head.method == .POST else {
            return answer(methodRefused([.get, .post]), route: "none")
        }
        guard pagePath != "/sign-in" else {
            guard isReading || body.count <= Self.longestSignIn else {
                return answer(malformed("The form is too long."), route: "none")
            }
            let fields = decodedFields()
            guard let (query, form) = fields.value else { return answer(fields.refusal, route: "none") }
            return isReading
                ? answer(signInPage(then: query["then"]), route: "/sign-in")
                : later("/sign-in") { await signIn(form, in: $0) }
        }
        guard let visit = site.access.visit(cookie: self.fields.cookie, at: now) else {
            return answer(withoutSession(), route: "none")
        }
        let fields = decodedFields()
        guard let (query, form) = fields.value else { return answer(fields.refusal, route: "none") }
        let (exchange, source) = respond(query, form, visit)
        guard let session = visit.session else { return (exchange, source) }
        return (
            exchange,
            .work {
                do {
                    if try await site.access.hasEnded(session, at: now) {
                        return .response(withoutSession().response)
                    }
                } catch {
                    return .response(sessionNotKnown(error).response)
                }
                switch source {
                case .response(let response): return .response(response)
                case .command(let command): return .command(command)
                case .work(let work): return await work()
                }
            }
        )
    }

    /// Maximum size in bytes of the sign-in form, which anyone can send. A key has at most 512 bytes, and the
    /// path to return to at most 2,048. Percent-encoding can triple these sizes.
    static let longestSignIn = 8192

    private func respond(
        _ query: [String: String], _ form: [String: String], _ visit: ConsoleAccess.Visit
    ) -> Handling {
        if pagePath == "/live", isReading { return waitForChange(query) }
        if head.method == .POST, !ConsoleFormToken.isValid(form["csrf"], key: visit.formKey) {
            return answer(formRefused(visit), route: "none")
        }
        if pagePath == "/sign-out", head.method == .POST {
            return later("/sign-out", isOperator: true) { _ in await signOut(visit) }
        }
        return open(query, form, visit)
    }

    private func open(
        _ query: [String: String], _ form: [String: String], _ visit: ConsoleAccess.Visit
    ) -> Handling {
        let viewer = visit.viewer
        switch site.routes.match(isReading ? .get : .post, pagePath) {
        case .none:
            guard pagePath == "/", isReading, let first = site.frame.firstPath(for: viewer) else {
                return answer(notFound(viewer), route: "none")
            }
            let reply = ConsoleReply(status: .seeOther, location: ConsolePath.full(first))
            return answer(reply, route: "/")
        case .otherMethod(let allowed): return answer(methodRefused(allowed), route: "none")
        case .page(let page, let parameters):
            guard page.isOpen(to: viewer) else { return answer(notFound(viewer), route: "none") }
            let request = ConsoleRequest(
                requestID: requestID, parameters: parameters, query: query, form: form, viewer: viewer,
                now: now)
            let exchange = exchange(route: page.path, isLogged: true, isOperator: true)
            return (
                exchange,
                .work {
                    // Runs off the event loop, because a slow page would otherwise block API requests.
                    await withTaskExecutorPreference(globalConcurrentExecutor) {
                        .response(await self.reply(of: page, to: request, visit).response)
                    }
                }
            )
        }
    }

    var isReading: Bool { head.method == .GET || head.method == .HEAD }

    private func decodedFields() -> (
        value: (query: [String: String], form: [String: String])?, refusal: ConsoleReply
    ) {
        guard let query = ConsoleFields.decode((query ?? "").utf8) else {
            return (nil, malformed("The query of this address is malformed or too long."))
        }
        guard head.method == .POST else { return ((query, [:]), ConsoleReply()) }
        guard fields.isForm, let form = ConsoleFields.decode(body) else {
            return (nil, malformed("The form is malformed or too long."))
        }
        return ((query, form), ConsoleReply())
    }

    // The next methods run in a task, because a page can read the database.

    private func reply(
        of page: ConsolePage, to request: ConsoleRequest, _ visit: ConsoleAccess.Visit
    ) async -> ConsoleReply {
        // Reads the number before creating the page, so that the browser misses no change in the meantime.
        let number = site.live.number
        do {
            switch try await page.handle(request) {
            case .page(let title, let isLive, let content):
                return render(content, title, isLive ? number : nil, visit)
            case .document(let html, let policy): return ConsoleReply(body: html, framedPolicy: policy)
            case .redirect(let path, let notice):
                var reply = ConsoleReply(status: .seeOther, location: ConsolePath.full(path))
                if let notice { reply.cookies = [noticeCookie(notice, visit)] }
                return reply
            case .notFound: return notFound(request.viewer)
            case .refused(let sentence):
                var reply = site.message(
                    "That did not work", sentence, status: .unprocessableEntity,
                    back: (wayBack, "Back"), viewer: request.viewer)
                reply.code = "console_form_refused"
                return reply
            }
        } catch {
            site.log.failed(error, route: page.path, requestID: requestID)
            return site.message(
                "An error", "The page failed. The log has the type of the error beside this request ID.",
                status: .internalServerError, requestID: requestID, viewer: request.viewer)
        }
    }

    private func render(
        _ content: HTML, _ title: String, _ number: UInt64?, _ visit: ConsoleAccess.Visit
    ) -> ConsoleReply {
        let notice = notice(visit)
        let page = site.frame.render(
            content, title, at: pagePath, for: visit.viewer, notice: notice,
            live: number.map { "\(ConsoleSite.root)/live?after=\($0)" })
        return ConsoleReply(body: page, cookies: notice == nil ? [] : ConsoleCookie.notice.deletions)
    }

    // Live updates.

    /// Sends one event of `text/event-stream` (HTML §9.2), after which the browser connects again.
    private func waitForChange(_ query: [String: String]) -> Handling {
        // After the first event, the browser sends the ID of the last event that it has received.
        let known = (head.headers.first(name: "last-event-id") ?? query["after"]).flatMap { UInt64($0) } ?? 0
        let exchange = exchange(route: "/live", isLogged: false, isLongPoll: true)
        return (
            exchange,
            .work {
                let text =
                    switch await site.live.wait(after: known) {
                    case .changed(let number):
                        "retry: \(LiveUpdates.pause)\nid: \(number)\nevent: change\ndata: \(number)\n\n"
                    case .unchanged: "retry: \(LiveUpdates.pause)\n\n"
                    case .busy: "retry: \(LiveUpdates.longPause)\n\n"
                    }
                return .response(
                    ConsoleReply(contentType: "text/event-stream", body: Array(text.utf8)).response)
            }
        )
    }

    // Responses.

    func answer(_ reply: ConsoleReply, route: String, isLogged: Bool = true) -> Handling {
        (exchange(route: route, isLogged: isLogged), .response(reply.response))
    }

    private func later(
        _ route: String, isOperator: Bool = false,
        _ reply: @escaping @Sendable (ConsoleExchange) async -> ConsoleReply
    ) -> Handling {
        let exchange = exchange(route: route, isLogged: true, isOperator: isOperator)
        return (exchange, .work { .response(await reply(exchange).response) })
    }

    private func exchange(
        route: String, isLogged: Bool, isLongPoll: Bool = false, isOperator: Bool = false
    ) -> ConsoleExchange {
        ConsoleExchange(
            requestID: requestID, method: isReading ? "GET" : "POST", route: route, startedAt: startedAt,
            omitsBody: head.method == .HEAD, isLongPoll: isLongPoll,
            isLogged: isLogged, isOperator: isOperator, site: site)
    }
}
