import AppleAccounts
import HTTPEngine
import NIOCore
import Tracing

/// A request that the `Dispatcher` has handled or refused, as the engine needs it until the response is written.
final class DispatchedExchange: HTTPExchange {
    private let info: RequestInfo
    private let dispatcher: Dispatcher

    init(_ info: RequestInfo, _ dispatcher: Dispatcher) {
        (self.info, self.dispatcher) = (info, dispatcher)
    }

    /// The span of the request, for its commit; `nil` where nothing is recorded.
    var context: ServiceContext? { info.trace?.context }

    var requestID: String { info.requestID }
    var omitsBody: Bool { info.omitsBody }
    var longestWait: TimeAmount { info.endpoint?.wait.longest ?? .zero }
    var isLongPoll: Bool { info.endpoint?.wait.isLongPoll ?? false }
    var unavailable: HTTPResponse { dispatcher.unavailable(info) }

    /// The response to a command that was committed or refused.
    func response(to commit: RouteResult.Commit, with result: Result<AccountOutcome, any Error>)
        -> HTTPResponse
    {
        dispatcher.response(to: commit, with: result, for: info)
    }

    func finish(_ response: HTTPResponse, at now: NIODeadline) -> HTTPResponse {
        let response = CrossOriginAccess.granted(by: info.endpoint, response)
        dispatcher.observer.record(info, response, finishedAt: now)
        return response
    }
}
