public import EmulatorServer
import HTTPTypes

/// Error codes of the fake Google.
extension EmulatorError.Code {
    public static let linkNotFound = Self("link_not_found", .notFound)
    /// No authorization server is configured, or the server has no such endpoint.
    public static let serverMissing = Self("server_missing", .conflict)
    /// The response at a redirect URI has an unknown `state`, so no link was started with it.
    public static let stateUnknown = Self("state_unknown", .badRequest)
    /// The link has no token for the request.
    public static let tokenMissing = Self("token_missing", .conflict)
    /// The event is not sent, because the registered receiver is disabled or has not requested it.
    public static let eventNotSent = Self("event_not_sent", .conflict)
    public static let signingFailed = Self("signing_failed", .internalServerError)

    static let ofFakeGoogle = [
        linkNotFound, serverMissing, stateUnknown, tokenMissing, eventNotSent, signingFailed,
    ]
}
