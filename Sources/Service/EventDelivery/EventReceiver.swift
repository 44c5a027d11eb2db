// EventDelivery owns the deliveries of account events to receivers: the choice of the next event, the retries
// after failures, and the forms of the messages. It owns neither connections, which are behind
// `EventDestination`, nor SQL, which is behind `DeliveryStore`.

public import AppleAccounts
public import Encodings

/// A receiver of account events, from the configuration.
public struct EventReceiver: Sendable {
    /// Number of receivers that a configuration can have, besides Google. `EventDelivering` has room for all
    /// of them at once, so that hanging receivers do not delay other receivers.
    public static let most = 48

    public let name: ReceiverName
    public let kinds: Set<AccountEvent.Kind>
    /// The apps whose events the receiver gets, by the rule of the event feed.
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

/// The form in which a receiver gets events.
public protocol EventFormat: Sendable {
    /// Returns the request for one attempt; `nil` for an event that the receiver does not get in this form.
    ///
    /// The event is as the feed shows it at this moment.
    func message(for event: AccountEvent, at moment: Moment) async throws -> EventMessage?

    /// Returns the message of a verification; `nil` in a form that has none.
    func message(
        for verification: StreamVerification, of stream: ReceiverName, at moment: Moment
    ) async throws -> EventMessage?
}

extension EventFormat {
    public func message(
        for verification: StreamVerification, of stream: ReceiverName, at moment: Moment
    ) async throws -> EventMessage? { nil }
}

/// One request: the fields and the body of a POST.
public struct EventMessage: Sendable, Hashable {
    public let fields: [String: String]
    public let body: [UInt8]

    public init(fields: [String: String], body: [UInt8]) {
        (self.fields, self.body) = (fields, body)
    }
}

/// Destination of a receiver's messages. The adapter is an HTTP client.
public protocol EventDestination: Sendable {
    /// Milliseconds that one attempt can take.
    static var timeLimit: Int64 { get }

    /// Posts one message, and returns after the receiver has taken it (status 2xx). Ends within `timeLimit`.
    ///
    /// - Parameter mayBegin: Called as late as possible, at best just before the bytes go to the system: a
    ///   process that was held up must not send a message that another process sends by now.
    /// - Throws: `DeliveryError`. The message may still have arrived; a repetition
    ///   has the same event ID. `CancellationError` if `mayBegin` is false after a
    ///   failure: the result is unknown, and another process sends the message.
    func post(_ message: EventMessage, while mayBegin: @escaping @Sendable () -> Bool) async throws
}

/// Reasons why a receiver did not take an event.
public struct DeliveryError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The name of the receiver's host has no address.
        case nameUnresolved = "name_unresolved"
        /// The name resolves to a private address, which is not allowed.
        case addressRefused = "address_refused"
        /// The connection could not be made, or was lost.
        case unreachable
        /// The receiver's certificate is not valid for its name.
        case certificateInvalid = "certificate_invalid"
        case timedOut = "timed_out"
        /// The receiver responded with a redirect, which is not followed.
        case redirected
        /// The status of the response is not 2xx.
        case refused
        /// The receiver refuses this event, and may take other events. An event
        /// that is refused repeatedly is given up, and does not pause the receiver.
        case eventRefused = "event_refused"
    }

    public let code: Code
    /// The status of the response.
    public let status: Int?

    public init(_ code: Code, status: Int? = nil) {
        (self.code, self.status) = (code, status)
    }

    /// Contains nothing of the response.
    public var description: String { code.rawValue + (status.map { " with status \($0)" } ?? "") }
}

/// An attempt that a receiver did not take.
package struct DeliveryFailure: Sendable, Hashable {
    package let moment: Moment
    /// Text for the log. Contains nothing of the event or the response.
    package let text: String

    package init(moment: Moment, text: String) {
        (self.moment, self.text) = (moment, text)
    }
}
