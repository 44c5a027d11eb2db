/// A call to Apple that returned no usable response. Match on `code` and `appleError`.
public struct AppleCallError: Error, Sendable {
    public enum Code: String, Sendable, CaseIterable {
        /// No connection was made: it was refused, the host is unknown, or the TLS
        /// certificate is not trusted. Nothing was sent to Apple.
        case unreachable
        /// The endpoint has failed several times in a row, so no request was sent.
        case circuitOpen = "circuit_open"
        /// The connection was made, but no complete response arrived in time.
        case timedOut = "timed_out"
        /// The connection was lost before the response was complete.
        case connectionLost = "connection_lost"
        /// The response is HTML, empty, truncated, too large, not as documented, or has an unexpected status.
        case responseUnusable = "answer_unusable"
        /// A 5xx other than 503 with Retry-After.
        case serverFailed = "server_failed"
        /// Rejected without being processed: 429, or 503 with Retry-After.
        case throttled
        /// Apple refused the request; see `appleError`.
        case rejected
        /// The client ID's team has no private key.
        case noSigningKey = "no_signing_key"
        /// The team has a private key, but signing with it failed.
        case signingFailed = "signing_failed"
    }

    public let code: Code
    /// The OAuth error if `code` is `.rejected`.
    public let appleError: AppleErrorCode?
    /// The delay that Apple requires, at most an hour.
    public let retryAfter: Duration?
    /// For a debugger: can hold Apple's undocumented `error_description`.
    public let detail: String

    public init(
        _ code: Code, appleError: AppleErrorCode? = nil, retryAfter: Duration? = nil, detail: String = ""
    ) {
        (self.code, self.appleError, self.retryAfter, self.detail) = (code, appleError, retryAfter, detail)
    }

    /// True when a retry gives the same error until the configuration changes.
    public var isFinal: Bool { code == .rejected }

    /// True when only the operator can correct the cause: with another key, or in the settings at Apple. Such
    /// a failure is not evidence about the user, the code or the token.
    public var isOfConfiguration: Bool {
        switch code {
        case .noSigningKey, .signingFailed: true
        case .rejected: appleError == .invalidClient || appleError == .unauthorizedClient
        case .unreachable, .circuitOpen, .timedOut, .connectionLost, .responseUnusable, .serverFailed,
            .throttled:
            false
        }
    }

    /// False when Apple has certainly not executed the request, so that even a call that must happen at most
    /// once can be repeated. A 5xx proves nothing: it can come from a gateway after the request was executed.
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

/// The `error` of an OAuth error response (RFC 6749 §5.2).
public enum AppleErrorCode: String, Sendable, CaseIterable {
    case invalidRequest = "invalid_request"
    /// Apple did not accept the client secret: wrong team, key or client ID, a revoked key, or a wrong clock.
    case invalidClient = "invalid_client"
    /// The code or token is unknown, used, expired, revoked, or was issued to another client.
    case invalidGrant = "invalid_grant"
    case unauthorizedClient = "unauthorized_client"
    case unsupportedGrantType = "unsupported_grant_type"
    case invalidScope = "invalid_scope"
    /// Any other value.
    case other
}
