import AppleAccounts
import HTTPEngine
import Logging
import NIOCore
import NIOHTTP1
import SignIn
import Synchronization

/// A console request and its response. It exists until the response has been written.
final class ConsoleExchange: HTTPExchange {
    let requestID: String
    let sharedFields: StaticString = ""
    let omitsBody: Bool
    let isLongPoll: Bool
    private let site: ConsoleSite
    private let startedAt: NIODeadline
    /// The path's template. It is never the path itself, because a path can name a user.
    private let route: String
    private let log: ConsoleLog?
    private let method: String
    private let isOperator: Atomic<Bool>

    /// - Parameters:
    ///   - isLogged: False for files, and for requests that wait for changes.
    ///   - isOperator: True if a session identified an operator.
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

    /// Records that an API key identified an operator.
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

/// Logs operators' requests and sign-in attempts.
final class ConsoleLog: Sendable {
    private let logger: Logger
    private let throttle = Mutex(LogThrottle())
    private let now: @Sendable () -> Moment

    init(_ logger: Logger, now: @escaping @Sendable () -> Moment) {
        (self.logger, self.now) = (logger, now)
    }

    /// Logs one line for each page request. The number of lines is bounded, because only operators cause
    /// them: `refused` logs requests without a session.
    func record(
        method: String, route: String, _ response: HTTPResponse, requestID: String, microseconds: Int64
    ) {
        guard response.code == nil else { return refused(response.code ?? "", requestID: requestID) }
        logger.info(
            "console request",
            metadata: [
                "method": "\(method)", "route": "\(route)", "status": "\(response.status.code)",
                "duration_us": "\(microseconds)", "request_id": "\(requestID)",
            ])
    }

    func signedIn(as name: String, requestID: String) {
        logger.notice(
            "operator signed in at the console",
            metadata: ["caller": "\(name)", "request_id": "\(requestID)"])
    }

    /// Logs at most one line per minute for each code.
    private func refused(_ code: String, requestID: String) {
        guard let leftOut = throttle.withLock({ $0.admit(code, at: now()) }) else { return }
        logger.warning(
            "console refused a request",
            metadata: ["code": "\(code)", "left_out": "\(leftOut)", "request_id": "\(requestID)"])
    }

    func failed(_ error: any Error, route: String, requestID: String) {
        guard let leftOut = throttle.withLock({ $0.admit("failed \(route)", at: now()) }) else { return }
        // The text of an unknown error could contain anything, so the log omits it.
        logger.error(
            "console page failed",
            metadata: [
                "error_type": "\(type(of: error))", "route": "\(route)", "left_out": "\(leftOut)",
                "request_id": "\(requestID)",
            ])
    }
}
