package import NIOCore
package import NIOHTTP1

/// The interface that the engine serves. Each event loop has its own instance and calls it only on that loop.
///
/// The engine owns connections and messages. The interface owns routes, callers, the error format, the log
/// and the metrics.
package protocol HTTPInterface: AnyObject {
    /// Accepts a complete request.
    ///
    /// - Parameters:
    ///   - client: Client that sent the request, even if named proxies forwarded it; `nil` if the proxies do
    ///     not name the client.
    ///   - gate: Gate that decides about overload once the interface knows the request's priority.
    func handle(
        _ request: IncomingRequest, from client: ClientAddress?, gate: AdmissionGate
    ) -> (exchange: any HTTPExchange, source: ResponseSource)

    /// Creates the response to a request that will never be complete.
    ///
    /// - Parameter request: Head of the request; `nil` if the header did not arrive completely.
    func refuse(
        _ refusal: RequestRefusal, of request: IncomingRequest?
    ) -> (exchange: any HTTPExchange, response: HTTPResponse)

    /// Submits the commands that requests have added since the last call.
    func submitGathered()

    func connectionOpened()
    func connectionClosed()

    /// Reports that a late request has finished. Its client has already received the time-limit response.
    func requestFinishedLate()
}

/// A request that the interface has accepted. It ends when its response has been written.
package protocol HTTPExchange: AnyObject, Sendable {
    var requestID: String { get }
    /// Header fields that every response has, each with a line break at its end.
    var sharedFields: StaticString { get }
    /// True if the client gets the response without its body, as for `HEAD`.
    var omitsBody: Bool { get }
    /// Longest time that the response waits intentionally, in addition to `ServerLimits.workTime`.
    var longestWait: TimeAmount { get }
    /// True if the engine may cancel the work at any time. The work then returns the result it has so far.
    var isLongPoll: Bool { get }

    /// Response for work that takes too long, which only the database can cause.
    var unavailable: HTTPResponse { get }

    /// Records the response, and returns it with the header fields that all responses to this call share. The
    /// engine calls it once.
    func finish(_ response: HTTPResponse, at now: NIODeadline) -> HTTPResponse
}

/// Source of the response to an accepted request.
///
/// Most responses come from memory, so their requests never leave their event loop, and need neither a task
/// nor a thread change.
package enum ResponseSource: Sendable {
    /// Function that a command calls once, on any thread, when the command is done. The engine calls `next`
    /// on the event loop.
    package typealias Completion = @Sendable (_ next: @escaping @Sendable () -> ResponseSource) -> Void

    case response(HTTPResponse)
    /// A command that the interface submits with the commands of other requests at the end of an event-loop
    /// round. The engine calls the function on the event loop, and the function adds the command to the batch
    /// that `HTTPInterface.submitGathered` submits.
    case command(_ gather: @Sendable (@escaping Completion) -> Void)
    /// Any other work, which the engine runs in a task.
    case work(@Sendable () async -> ResponseSource)
}

/// Response to a request, before encoding.
package struct HTTPResponse: Sendable {
    package let status: HTTPResponseStatus
    package let contentType: StaticString?
    package let body: [UInt8]
    /// Bytes after `body`. All responses share one copy in memory, so a thousand slow clients do not cause a
    /// thousand copies.
    package var sharedBody: ByteBuffer?
    package var entityTag: String?
    /// True if no cache may store the response (RFC 9111 §5.2.2.5). It applies to user data and to all
    /// errors.
    package var forbidsCaching = false
    /// Additional header fields. The engine writes them unescaped, so a value must not contain a line break.
    package var fields: [(name: StaticString, value: String)] = []
    /// Stable error code for the log.
    package var code: String?

    package init(
        status: HTTPResponseStatus, contentType: StaticString?, body: [UInt8], sharedBody: ByteBuffer? = nil,
        entityTag: String? = nil, forbidsCaching: Bool = false
    ) {
        (self.status, self.contentType, self.body) = (status, contentType, body)
        (self.sharedBody, self.entityTag, self.forbidsCaching) = (sharedBody, entityTag, forbidsCaching)
    }

    /// Returns a JSON response about a user, which no cache may store.
    package static func json(_ status: HTTPResponseStatus = .ok, _ body: [UInt8]) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "application/json", body: body, forbidsCaching: true)
    }
}
