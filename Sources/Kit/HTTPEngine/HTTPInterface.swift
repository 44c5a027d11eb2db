package import NIOCore
package import NIOHTTP1

/// The interface that the engine serves, as one event loop uses it. Called only on that loop.
///
/// The engine knows connections and messages. Routes, callers, the form of errors, the log and the metrics belong
/// to the interface.
package protocol HTTPInterface: AnyObject {
    /// Accepts a complete request.
    ///
    /// - Parameters:
    ///   - client: The client, also behind named proxies; `nil` when they do not name it.
    ///   - gate: Decides about overload once the priority of the request is known.
    func handle(
        _ request: IncomingRequest, from client: ClientAddress?, gate: AdmissionGate
    ) -> (exchange: any HTTPExchange, source: ResponseSource)

    /// Makes the response to a request that will never be complete.
    ///
    /// - Parameter request: `nil` when the header did not arrive.
    func refuse(
        _ refusal: RequestRefusal, of request: IncomingRequest?
    ) -> (exchange: any HTTPExchange, response: HTTPResponse)

    /// Submits the commands that were gathered since the last call.
    func submitGathered()

    func connectionOpened()
    func connectionClosed()

    /// Called after a late request is done. Its client has already
    /// received the response about the time limit.
    func requestFinishedLate()
}

/// A request that the interface has accepted, until its response is written.
package protocol HTTPExchange: AnyObject, Sendable {
    var requestID: String { get }
    /// True if the response is sent without its body, as for `HEAD`.
    var omitsBody: Bool { get }
    /// Time that the response intentionally waits, in addition to `ServerLimits.workTime`.
    var longestWait: TimeAmount { get }
    /// True if the work may be cancelled at any time. It then returns its result so far.
    var isLongPoll: Bool { get }

    /// The response when the work takes too long. Only the database can take so long.
    var unavailable: HTTPResponse { get }

    /// Records the response, and returns it with the fields that every response of the call has. Called once.
    func finish(_ response: HTTPResponse, at now: NIODeadline) -> HTTPResponse
}

/// The source of the response to an accepted request.
///
/// Most responses come from memory: their requests never leave their event loop,
/// and need neither a task nor a change of thread.
package enum ResponseSource: Sendable {
    /// Called once, on any thread, when a command is done. `next` is called on the event loop.
    package typealias Completion = @Sendable (_ next: @escaping @Sendable () -> ResponseSource) -> Void

    case response(HTTPResponse)
    /// A command that the interface submits together with the commands of other requests, at the end of a round of the
    /// event loop. The function adds it to the commands that `HTTPInterface.submitGathered` submits, and is called on
    /// the event loop.
    case command(_ gather: @Sendable (@escaping Completion) -> Void)
    /// Any other work. Runs in a task.
    case work(@Sendable () async -> ResponseSource)
}

/// The response to a request, before it is encoded.
package struct HTTPResponse: Sendable {
    package let status: HTTPResponseStatus
    package let contentType: StaticString?
    package let body: [UInt8]
    /// Bytes after `body`. All responses share their memory, so that a thousand
    /// slow clients do not cause a thousand copies.
    package var sharedBody: ByteBuffer?
    package var entityTag: String?
    /// True if no cache may keep the response (RFC 9111 §5.2.2.5): a response about a user, and every error.
    package var forbidsCaching = false
    /// More fields, written without escapes: a value must not contain a line break.
    package var fields: [(name: StaticString, value: String)] = []
    /// The stable code of an error, for the log.
    package var code: String?

    package init(
        status: HTTPResponseStatus, contentType: StaticString?, body: [UInt8], sharedBody: ByteBuffer? = nil,
        entityTag: String? = nil, forbidsCaching: Bool = false
    ) {
        (self.status, self.contentType, self.body) = (status, contentType, body)
        (self.sharedBody, self.entityTag, self.forbidsCaching) = (sharedBody, entityTag, forbidsCaching)
    }

    /// A JSON response about a user.
    package static func json(_ status: HTTPResponseStatus = .ok, _ body: [UInt8]) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "application/json", body: body, forbidsCaching: true)
    }
}
