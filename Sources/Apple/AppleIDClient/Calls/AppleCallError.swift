/// A call to Apple that returned no usable response. Match on `code` and `appleError`.
public struct AppleCallError: Error, Sendable {
    public enum Code: String, Sendable, CaseIterable {
        /// The client could not connect, because the server refused the connection, the host is unknown, or
        /// the TLS certificate is not trusted. Nothing was sent to Apple.
        case unreachable
        /// The endpoint has failed several times in a row, so the client sent no request.
        case circuitOpen = "circuit_open"
        /// The client connected, but no complete response arrived in time.
        case timedOut = "timed_out"
        /// The connection broke before the response was complete.
        case connectionLost = "connection_lost"
        /// The response is HTML, empty, truncated, too large, not as documented, or has an unexpected status.
        case responseUnusable = "answer_unusable"
        /// The server responded with a 5xx status other than 503 with Retry-After.
        case serverFailed = "server_failed"
        /// Apple rejected the request without processing it, with 429 or with 503 and Retry-After.
        case throttled
        /// Apple refused the request; see `appleError`.
        case rejected
        /// There is no private key for the client ID's team.
        case noSigningKey = "no_signing_key"
        /// The team has a private key, but signing with it failed.
        case signingFailed = "signing_failed"
    }

    public let code: Code
    /// The OAuth error if `code` is `.rejected`.
    public let appleError: AppleErrorCode?
    /// The delay that Apple demands before a retry, at most an hour.
    public let retryAfter: Duration?
    /// Details for a debugger. They can contain Apple's undocumented `error_description`.
    public let detail: String

    public init(
        _ code: Code, appleError: AppleErrorCode? = nil, retryAfter: Duration? = nil, detail: String = ""
    ) {
        (self.code, self.appleError, self.retryAfter, self.detail) = (code, appleError, retryAfter, detail)
    }

    /// True if a retry without a configuration change gives the same error.
    public var isFinal: Bool { code == .rejected }

    /// True if only the operator can fix the cause, by configuring another key or by changing the settings at
    /// Apple. Such a failure says nothing about the user, the code or the token.
    public var isOfConfiguration: Bool {
        switch code {
        case .noSigningKey, .signingFailed: true
        case .rejected: appleError == .invalidClient || appleError == .unauthorizedClient
        case .unreachable, .circuitOpen, .timedOut, .connectionLost, .responseUnusable, .serverFailed,
            .throttled:
            false
        }
    }

    /// False if Apple has certainly not executed the request, so that the caller
    /// can repeat even a call that must happen at most once. A 5xx proves nothing,
    /// because a gateway can send it after Apple has executed the request.
    public var mayHaveHappened: Bool {
        switch code {
        case .timedOut, .connectionLost, .responseUnusable, .serverFailed: true
        case .unreachable, .circuitOpen, .throttled, .rejected, .noSigningKey, .signingFailed: false
        }
    }
}

extension AppleCallError: Equatable {
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.code == rhs.code && lhs.appleError == rhs.appleError
    }
}

extension AppleCallError: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {
        "call to Apple failed: \(code.rawValue)" + (appleError.map { " (\($0.rawValue))" } ?? "")
    }
    public var debugDescription: String { "\(description) (\(detail))" }
}

/// The `error` member of an OAuth error response (RFC 6749 §5.2).
public enum AppleErrorCode: String, Sendable, CaseIterable {
    case invalidRequest = "invalid_request"
    /// Apple did not accept the client secret: its team, key or
    /// client ID is wrong, its key is revoked, or the clock is wrong.
    case invalidClient = "invalid_client"
    /// The code or token is unknown, used, expired, revoked, or was issued to another client.
    case invalidGrant = "invalid_grant"
    case unauthorizedClient = "unauthorized_client"
    case unsupportedGrantType = "unsupported_grant_type"
    case invalidScope = "invalid_scope"
    /// Any other value.
    case other
}
