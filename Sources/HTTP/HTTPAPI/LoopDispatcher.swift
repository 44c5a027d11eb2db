import AppleAccounts
import Commits
import HTTPEngine
import NIOCore
import NIOHTTP1
import SignIn

/// Handles the requests of one event loop by the `Dispatcher`, and gathers their commands. Stays on its event loop.
final class LoopDispatcher: HTTPInterface {
    private let dispatcher: Dispatcher
    private let commits: GroupCommit<AccountCommand>
    private let eventLoop: any EventLoop
    /// `nil` where the port has the interface alone.
    private let site: (any PageSite)?
    private var gathered: [GroupCommit<AccountCommand>.Entry] = []

    init(
        _ dispatcher: Dispatcher, commits: GroupCommit<AccountCommand>, site: (any PageSite)?,
        eventLoop: any EventLoop
    ) {
        (self.dispatcher, self.commits, self.eventLoop) = (dispatcher, commits, eventLoop)
        self.site = site
    }

    func handle(
        _ request: IncomingRequest, from client: ClientAddress?, gate: AdmissionGate
    ) -> (exchange: any HTTPExchange, source: ResponseSource) {
        if let site, let target = RequestTarget(request.head.uri), site.serves(target) {
            return site.handle(request, target, from: client)
        }
        let (info, result) = dispatcher.handle(request, from: client, gate: gate)
        let exchange = DispatchedExchange(info, dispatcher)
        switch result {
        case .response(let response): return (exchange, .response(response))
        case .commit(let commit): return (exchange, .command(gathering(for: exchange)(commit)))
        case .work(let work):
            let command = gathering(for: exchange)
            let result = { @Sendable [dispatcher] in
                await dispatcher.result(of: work, for: info, gathered: command)
            }
            return (exchange, .work(result))
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
        commits.submit(gathered)
        gathered.removeAll(keepingCapacity: true)
    }

    func connectionOpened() { dispatcher.observer.connectionOpened() }
    func connectionClosed() { dispatcher.observer.connectionClosed() }
    func requestFinishedLate() { dispatcher.observer.recordLate() }

    /// Makes what the engine gathers of a command.
    private func gathering(
        for exchange: DispatchedExchange
    ) -> @Sendable (RouteResult.Commit) -> GatheredCommand {
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        return { commit in GatheredCommand { loop.value.gather(commit, of: exchange, then: $0) } }
    }

    private func gather(
        _ commit: RouteResult.Commit, of exchange: DispatchedExchange,
        then completion: @escaping GatheredCommand.Completion
    ) {
        gathered.append(
            GroupCommit<AccountCommand>.Entry(commit.command, context: exchange.context) { result in
                completion { exchange.response(to: commit, with: result) }
            })
    }
}
