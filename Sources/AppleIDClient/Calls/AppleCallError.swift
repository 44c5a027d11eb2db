/// Why a call to Apple brought no answer that can be used. Match on `code` and `appleError`.
public struct AppleCallError: Error, Sendable {
    public enum Code: String, Sendable, CaseIterable {
        /// No connection was made: refused, no such host, no TLS with somebody whom the system trusts. Apple has not been
        /// asked.
        case unreachable
        /// Apple has failed so often that it was not even tried.
        case circuitOpen = "circuit_open"
        /// A connection was there, and no whole answer came in time.
        case timedOut = "timed_out"
        /// The connection ended before the answer did.
        case connectionLost = "connection_lost"
        /// HTML, empty, half, too large, of another shape, or with a status that says nothing.
        case answerUnusable = "answer_unusable"
        /// A 5xx that does not invite to ask again.
        case serverFailed = "server_failed"
        /// Turned away unread: 429, or 503 with a Retry-After.
        case throttled
        /// Apple's own refusal, in `appleError`.
        case rejected
        /// There is no private key for the client ID's team.
        case noSigningKey = "no_signing_key"
        /// There is one, and nothing can be signed with it.
        case signingFailed = "signing_failed"
    }

    public let code: Code
    /// What Apple answered, when `code` is `.rejected`.
    public let appleError: AppleErrorCode?
    /// How long Apple asks to wait, at most an hour.
    public let retryAfter: Duration?
    /// For a debugger: can hold Apple's undocumented `error_description`.
    public let detail: String

    public init(
        _ code: Code, appleError: AppleErrorCode? = nil, retryAfter: Duration? = nil, detail: String = ""
    ) {
        (self.code, self.appleError, self.retryAfter, self.detail) = (code, appleError, retryAfter, detail)
    }

    /// True when asking again gives the same answer, until somebody changes the configuration.
    public var isFinal: Bool { code == .rejected }

    /// True when only the operator can put it right: by another key, or at Apple. Such a failure says nothing about
    /// the user, the code or the token.
    public var isOfConfiguration: Bool {
        switch code {
        case .noSigningKey, .signingFailed: true
        case .rejected: appleError == .invalidClient || appleError == .unauthorizedClient
        case .unreachable, .circuitOpen, .timedOut, .connectionLost, .answerUnusable, .serverFailed,
            .throttled:
            false
        }
    }

    /// False when Apple has surely not done what it was asked for, so that even a call that must happen at most once can
    /// be made again. A 5xx alone proves nothing: it can come from a gateway after the work was done.
    public var mayHaveHappened: Bool {
        switch code {
        case .timedOut, .connectionLost, .answerUnusable, .serverFailed: true
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
