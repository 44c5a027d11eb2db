public import Encodings

/// Reasons for which a receiver did not take an event.
public struct DeliveryError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The name of the receiver's host has no address.
        case nameUnresolved = "name_unresolved"
        /// The name leads to an address that is private, and not allowed.
        case addressRefused = "address_refused"
        /// No connection was made, or it was lost.
        case unreachable
        /// The receiver's certificate is not valid for its name.
        case certificateInvalid = "certificate_invalid"
        case timedOut = "timed_out"
        /// The receiver answered with a redirect, which is not followed.
        case redirected
        /// The receiver answered with another status than 2xx.
        case refused
        /// The receiver refuses this event, and may take others. An event that is refused again and again is
        /// given up, and pauses no receiver.
        case eventRefused = "event_refused"
    }

    public let code: Code
    /// The status of the response.
    public let status: Int?

    public init(_ code: Code, status: Int? = nil) {
        (self.code, self.status) = (code, status)
    }

    /// Has nothing of the response.
    public var description: String { code.rawValue + (status.map { " with status \($0)" } ?? "") }
}
