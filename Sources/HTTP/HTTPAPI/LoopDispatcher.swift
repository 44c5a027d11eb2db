import AppleAccounts
import AuthorizationServer
import Commits
package import HTTPEngine
import NIOCore
import NIOHTTP1
import SignIn
import Tracing

/// Passes one event loop's requests to the `Dispatcher`, and collects their commands. An instance is used
/// only on its event loop.
final class LoopDispatcher: HTTPInterface {
    private let dispatcher: Dispatcher
    private let eventLoop: any EventLoop
    /// The pages on this port; `nil` if the port serves only the API.
    private let site: (any PageSite)?
    private var accounts = Gathered<AccountCommand>()
    private var grants = Gathered<GrantCommand>()

    init(_ dispatcher: Dispatcher, site: (any PageSite)?, eventLoop: any EventLoop) {
        (self.dispatcher, self.site, self.eventLoop) = (dispatcher, site, eventLoop)
    }

    func handle(
        _ request: IncomingRequest, from client: ClientAddress?, gate: AdmissionGate
    ) -> (exchange: any HTTPExchange, source: ResponseSource) {
        if let site, let target = RequestTarget(request.head.uri), site.serves(target) {
            return site.handle(request, target, from: client)
        }
        let (info, step) = dispatcher.handle(request, from: client, gate: gate)
        let exchange = DispatchedExchange(info, dispatcher)
        if case .now(let response) = step { return (exchange, .response(response)) }
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        return (exchange, Self.source(of: step, info, exchange, dispatcher, loop))
    }

    /// Converts a step to a response source for the engine, which knows nothing about steps.
    private static func source(
        of step: Step<HTTPResponse>, _ info: RequestInfo, _ exchange: DispatchedExchange,
        _ dispatcher: Dispatcher, _ loop: NIOLoopBound<LoopDispatcher>
    ) -> ResponseSource {
        switch step {
        case .now(let response): .response(response)
        case .accounts(let commit):
            .command { completion in
                loop.value.accounts.add(commit, of: exchange) { next in
                    completion { source(of: next(), info, exchange, dispatcher, loop) }
                }
            }
        case .grants(let commit):
            .command { completion in
                loop.value.grants.add(commit, of: exchange) { next in
                    completion { source(of: next(), info, exchange, dispatcher, loop) }
                }
            }
        case .work(let work):
            .work {
                let next = await dispatcher.next(after: work, for: info)
                return source(of: next, info, exchange, dispatcher, loop)
            }
        }
    }

    func refuse(
        _ refusal: RequestRefusal, of request: IncomingRequest?
    ) -> (exchange: any HTTPExchange, response: HTTPResponse) {
        let info = RequestInfo(
            method: request?.head.method,
            requestID: RequestID.accept(request?.fields.requestID) ?? RequestID.make(),
            startedAt: request?.startedAt ?? .now())
        let response = dispatcher.refusal(refusal.problemCode, target: request?.head.uri, info)
        return (DispatchedExchange(info, dispatcher), response)
    }

    func submitGathered() {
        accounts.submit()
        grants.submit()
    }

    func connectionOpened() { dispatcher.observer.connectionOpened() }
    func connectionClosed() { dispatcher.observer.connectionClosed() }
    func requestFinishedLate() { dispatcher.observer.recordLate() }
}

/// Commands for one queue, collected during one tick of an event loop.
private struct Gathered<Command: BatchCommand> {
    private var queue: GroupCommit<Command>?
    private var entries: [GroupCommit<Command>.Entry] = []

    mutating func add(
        _ commit: Step<HTTPResponse>.Commit<Command>, of exchange: DispatchedExchange,
        completion: @escaping @Sendable (_ next: @escaping @Sendable () -> Step<HTTPResponse>) -> Void
    ) {
        queue = commit.queue
        entries.append(
            GroupCommit<Command>.Entry(commit.command, context: exchange.context) { outcome in
                completion { exchange.step { try commit.next(outcome) } }
            })
    }

    mutating func submit() {
        guard !entries.isEmpty else { return }
        queue?.submit(entries)
        entries.removeAll(keepingCapacity: true)
    }
}

/// A request that the `Dispatcher` has handled or refused. It exists until its response is written.
final class DispatchedExchange: HTTPExchange {
    private let info: RequestInfo
    private let dispatcher: Dispatcher

    init(_ info: RequestInfo, _ dispatcher: Dispatcher) {
        (self.info, self.dispatcher) = (info, dispatcher)
    }

    /// The tracing context for committing the request's command; `nil` if the request is not recorded.
    var context: ServiceContext? { info.trace?.context }

    var requestID: String { info.requestID }
    var sharedFields: StaticString { APIVersion.field }
    var omitsBody: Bool { info.omitsBody }
    var longestWait: TimeAmount { info.endpoint?.wait.longest ?? .zero }
    var isLongPoll: Bool { info.endpoint?.wait.isLongPoll ?? false }
    var unavailable: HTTPResponse { dispatcher.unavailable(info) }

    /// Returns the step that follows a committed or refused command.
    func step(_ next: () throws -> Step<HTTPResponse>) -> Step<HTTPResponse> {
        dispatcher.step(next, for: info)
    }

    func finish(_ response: HTTPResponse, at now: NIODeadline) -> HTTPResponse {
        let response = CrossOriginAccess.granted(by: info.endpoint, response)
        dispatcher.observer.record(info, response, finishedAt: now)
        return response
    }
}

/// Pages that are served on the API port but are not API endpoints, such as the console in development. The
/// pages have their own checks, responses and log lines.
package protocol PageSite: Sendable {
    /// Returns `true` if the target belongs to a page.
    func serves(_ target: RequestTarget) -> Bool

    /// - Parameter client: The client's address; `nil` if it is unknown.
    func handle(
        _ request: IncomingRequest, _ target: RequestTarget, from client: ClientAddress?
    ) -> (exchange: any HTTPExchange, source: ResponseSource)
}
