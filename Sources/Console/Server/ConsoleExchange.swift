import HTTPEngine
import NIOCore

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

    /// - Parameter isLogged: False for files, and for waits for changes.
    init(
        requestID: String, method: String, route: String, startedAt: NIODeadline, omitsBody: Bool,
        isLongPoll: Bool = false, isLogged: Bool, site: ConsoleSite
    ) {
        (self.requestID, self.method, self.route, self.startedAt) = (requestID, method, route, startedAt)
        (self.omitsBody, self.isLongPoll) = (omitsBody, isLongPoll)
        self.site = site
        log = isLogged ? site.log : nil
    }

    var unavailable: HTTPResponse { site.unavailable(requestID: requestID) }

    var longestWait: TimeAmount { isLongPoll ? TimeAmount(LiveUpdates.longestWait) : .zero }

    func finish(_ response: HTTPResponse, at now: NIODeadline) -> HTTPResponse {
        log?.record(
            method: method, route: route, response, requestID: requestID,
            microseconds: (now - startedAt).nanoseconds / 1000)
        return response
    }
}
