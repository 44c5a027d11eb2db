package import NIOCore

/// A request that the interface has taken on, from then until its response is written.
package protocol HTTPExchange: AnyObject, Sendable {
    var requestID: String { get }
    /// True if the response is sent without its body, as for `HEAD`.
    var omitsBody: Bool { get }
    /// Time that the response waits by design, in addition to `ServerLimits.workTime`.
    var longestWait: TimeAmount { get }
    /// True if the work may be cancelled at any time. It then returns its result so far.
    var isLongPoll: Bool { get }

    /// The response when the work takes too long. Only the database can take so long.
    var unavailable: HTTPResponse { get }

    /// Records the response, and returns it with the fields that every response of the call has. Called once.
    func finish(_ response: HTTPResponse, at now: NIODeadline) -> HTTPResponse
}
