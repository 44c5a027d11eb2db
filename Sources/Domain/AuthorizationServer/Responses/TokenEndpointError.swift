public import AppleAccounts

/// An error response of the token, revocation or introspection endpoint (RFC 6749 §5.2).
public struct TokenEndpointError: Error, Sendable, Equatable {
    public let error: OAuthError
    /// True if the client used HTTP Basic, so that a 401 must name this scheme.
    public let usedBasic: Bool
    /// The client whose secret was guessed wrong. Guesses are slowed per client and address.
    public let guessedClient: OAuthClientID?

    public init(_ error: OAuthError, usedBasic: Bool = false, guessedClient: OAuthClientID? = nil) {
        self.error = error
        self.usedBasic = usedBasic
        self.guessedClient = guessedClient
    }

    public init(_ code: OAuthError.Code, _ explanation: String) {
        self.init(OAuthError(code, explanation))
    }

    /// The HTTP status. `invalid_client` is always 401, also where RFC 6749 allows another status.
    public var status: Int {
        switch error.code {
        case .invalidClient, .invalidToken, .linkingError: 401
        case .insufficientScope, .disallowedUserAgent: 403
        case .serverError: 500
        case .temporarilyUnavailable: 503
        case .invalidRequest, .invalidGrant, .unauthorizedClient, .accessDenied, .unsupportedResponseType,
            .unsupportedGrantType, .invalidScope, .invalidTarget, .authorizationPending, .slowDown,
            .expiredToken, .interactionRequired, .loginRequired,
            .consentRequired, .requestNotSupported, .requestURINotSupported,
            .cancelled, .unrecoverable, .redirectURIMismatch:
            400
        }
    }

    /// The value of `WWW-Authenticate`, or `nil` without one (RFC 6749 §5.2).
    public var challenge: String? {
        status == 401 && usedBasic ? #"Basic realm="siwa", charset="UTF-8""# : nil
    }
}
