// EventDelivery delivers account events to receivers: it chooses the next event, retries failed deliveries
// and formats messages. It owns neither connections (`EventDestination`) nor SQL (`DeliveryStore`).

public import AppleAccounts
public import Encodings

/// A configured receiver of account events.
public struct EventReceiver: Sendable {
    /// Maximum number of configured receivers, not counting Google. `EventDelivering` can serve all of them
    /// concurrently, so a receiver that hangs does not delay the others.
    public static let most = 48

    public let name: ReceiverName
    public let kinds: Set<AccountEvent.Kind>
    /// The apps whose events the receiver gets, chosen by the same rule as in the event feed.
    public let scope: AppScope
    public let format: any EventFormat
    public let destination: any EventDestination

    public init(
        name: ReceiverName, kinds: Set<AccountEvent.Kind>, scope: AppScope, format: any EventFormat,
        destination: any EventDestination
    ) {
        (self.name, self.kinds, self.scope) = (name, kinds, scope)
        (self.format, self.destination) = (format, destination)
    }
}

/// The format of the messages to a receiver.
public protocol EventFormat: Sendable {
    /// Returns the request for one attempt; `nil` if this format has no message for the event.
    ///
    /// The event's content is its current content in the feed.
    func message(for event: AccountEvent, at moment: Moment) async throws -> EventMessage?

    /// Returns the message for a verification; `nil` if this format has no verifications.
    func message(
        for verification: StreamVerification, of stream: ReceiverName, at moment: Moment
    ) async throws -> EventMessage?
}

extension EventFormat {
    public func message(
        for verification: StreamVerification, of stream: ReceiverName, at moment: Moment
    ) async throws -> EventMessage? { nil }
}

/// A POST request to a receiver: its headers and its body.
public struct EventMessage: Sendable, Hashable {
    public let fields: [String: String]
    public let body: [UInt8]

    public init(fields: [String: String], body: [UInt8]) {
        (self.fields, self.body) = (fields, body)
    }
}

/// Sends messages to a receiver. An HTTP client implements this protocol.
public protocol EventDestination: Sendable {
    /// Time limit for one attempt, in milliseconds.
    static var timeLimit: Int64 { get }

    /// Posts one message, and returns when the receiver has accepted it with status 2xx. Returns or throws
    /// within `timeLimit`.
    ///
    /// - Parameter mayBegin: Called as late as possible, ideally just before the bytes are passed to the
    ///   system. If this process was suspended, another process may already be sending the message, so this
    ///   process must not send it.
    /// - Throws: `DeliveryError` if the attempt fails. The message may have arrived nevertheless; a retry has
    ///   the same event ID. `CancellationError` if `mayBegin` returns false after a failure: the result is
    ///   unknown, and another process is responsible for the message.
    func post(_ message: EventMessage, while mayBegin: @escaping @Sendable () -> Bool) async throws
}

/// The reason why a receiver did not accept an event.
public struct DeliveryError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The receiver's host name has no address.
        case nameUnresolved = "name_unresolved"
        /// The host name resolves to a private address that is not allowed.
        case addressRefused = "address_refused"
        /// The connection failed, or was lost.
        case unreachable
        /// The receiver's certificate is not valid for its host name.
        case certificateInvalid = "certificate_invalid"
        case timedOut = "timed_out"
        /// The receiver responded with a redirect. Redirects are not followed.
        case redirected
        /// The response's status is not 2xx.
        case refused
        /// The receiver refuses this event, but may accept other events. After repeated refusals the event is
        /// abandoned, and the receiver is not paused.
        case eventRefused = "event_refused"
    }

    public let code: Code
    /// The response's HTTP status.
    public let status: Int?

    public init(_ code: Code, status: Int? = nil) {
        (self.code, self.status) = (code, status)
    }

    /// A description that contains no part of the response.
    public var description: String { code.rawValue + (status.map { " with status \($0)" } ?? "") }
}

/// A failed attempt to deliver an event.
package struct DeliveryFailure: Sendable, Hashable {
    package let moment: Moment
    /// Text for the log. It contains no part of the event or the response.
    package let text: String

    package init(moment: Moment, text: String) {
        (self.moment, self.text) = (moment, text)
    }
}
