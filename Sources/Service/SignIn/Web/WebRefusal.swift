public import Encodings

/// A step of a web sign-in that was refused.
public struct WebRefusal: CodedError {
    /// The raw values are the codes on the wire.
    public enum Code: String, Sendable, CaseIterable {
        /// This service has not made the `state`.
        case stateInvalid = "web_state_invalid"
        case stateExpired = "web_state_expired"
        /// The `state` was used in a sign-in before.
        case stateUsed = "web_state_used"
        /// This service has not made the ticket.
        case ticketInvalid = "web_ticket_invalid"
        case ticketExpired = "web_ticket_expired"
        /// The sign-in was begun in another browser.
        case browserMismatch = "web_browser_mismatch"
        /// The code is unknown, used, or expired. The caller does not learn the cause.
        case codeInvalid = "web_code_invalid"
    }

    public let code: Code

    public init(_ code: Code) {
        self.code = code
    }
}

extension WebRefusal {
    public var description: String { "web sign-in refused: \(code.rawValue)" }
}
