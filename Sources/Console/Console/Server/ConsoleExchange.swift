import HTTPEngine
import NIOCore
import Synchronization

/// A request that the console has taken on, until its response is written.
final class ConsoleExchange: HTTPExchange {
    let requestID: String
    let omitsBody: Bool
    let isLongPoll: Bool
    private let site: ConsoleSite
    private let startedAt: NIODeadline
    /// The template of the path, never the path: a path can name a user.
    private let route: String
    private let log: ConsoleLog?
    private let method: String
    private let isOperator: Atomic<Bool>

    /// - Parameters:
    ///   - isLogged: False for files, and for waits for changes.
    ///   - isOperator: True if a session has proven an operator.
    init(
        requestID: String, method: String, route: String, startedAt: NIODeadline, omitsBody: Bool,
        isLongPoll: Bool = false, isLogged: Bool, isOperator: Bool = false, site: ConsoleSite
    ) {
        (self.requestID, self.method, self.route, self.startedAt) = (requestID, method, route, startedAt)
        (self.omitsBody, self.isLongPoll) = (omitsBody, isLongPoll)
        self.site = site
        self.isOperator = Atomic(isOperator)
        log = isLogged ? site.log : nil
    }

    /// Notes that a key has proven an operator.
    func proveOperator() { isOperator.store(true, ordering: .relaxed) }

    var unavailable: HTTPResponse {
        site.unavailable(requestID: requestID, isOperator: isOperator.load(ordering: .relaxed))
    }

    var longestWait: TimeAmount { isLongPoll ? TimeAmount(LiveUpdates.longestWait) : .zero }

    func finish(_ response: HTTPResponse, at now: NIODeadline) -> HTTPResponse {
        log?.record(
            method: method, route: route, response, requestID: requestID,
            microseconds: (now - startedAt).nanoseconds / 1000)
        return response
    }
}
