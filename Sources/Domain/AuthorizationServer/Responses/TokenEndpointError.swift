public import AppleAccounts

/// An error response from the token, revocation or introspection endpoint (RFC 6749 §5.2).
public struct TokenEndpointError: Error, Sendable, Equatable {
    public let error: OAuthError
    /// True if the client used HTTP Basic. A response with status 401 must then name this scheme.
    public let usedBasic: Bool
    /// The client whose secret was wrong in the request. Wrong guesses are limited per client and address.
    public let guessedClient: OAuthClientID?

    public init(_ error: OAuthError, usedBasic: Bool = false, guessedClient: OAuthClientID? = nil) {
        self.error = error
        self.usedBasic = usedBasic
        self.guessedClient = guessedClient
    }

    public init(_ code: OAuthError.Code, _ explanation: String) {
        self.init(OAuthError(code, explanation))
    }

    /// The HTTP status. `invalid_client` is always 401, although RFC 6749 allows other statuses.
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

    /// The value of the `WWW-Authenticate` header. `nil` if the response needs none (RFC 6749 §5.2).
    public var challenge: String? {
        status == 401 && usedBasic ? #"Basic realm="siwa", charset="UTF-8""# : nil
    }
}

/// The reason why the token endpoint refused a request.
///
/// It appears in the log and the metrics, for operators. Clients receive it only in development, because it
/// would help an attacker who is trying codes and tokens.
public enum TokenRefusalReason: String, Sendable, Hashable, CaseIterable {
    // The request.
    case requestMalformed = "request_malformed"
    case clientNotAuthenticated = "client_not_authenticated"
    case attestationRequired = "attestation_required"
    case attestationInvalid = "attestation_invalid"
    case grantTypeUnknown = "grant_type_unknown"
    case grantTypeNotAllowed = "grant_type_not_allowed"
    case scopeNotAllowed = "scope_not_allowed"
    case resourceDiffers = "resource_differs"

    // The authorization code.
    case codeUnknown = "code_unknown"
    case codeExpired = "code_expired"
    case codeRetried = "code_retried"
    case codeUsed = "code_used"
    case redirectURIDiffers = "redirect_uri_differs"
    case verifierDiffers = "verifier_differs"

    // The refresh token.
    case tokenUnknown = "token_unknown"
    case tokenExpired = "token_expired"
    case tokenRotated = "token_rotated"
    case familyEnded = "family_ended"
    case refreshNotAllowed = "refresh_not_allowed"
    case scopeExceeded = "scope_exceeded"

    // The device code.
    case deviceCodeUnknown = "device_code_unknown"
    case deviceCodeExpired = "device_code_expired"
    case authorizationPending = "authorization_pending"
    case slowDown = "slow_down"
    case consentRefused = "consent_refused"

    // Codes and refresh tokens.
    case otherClient = "other_client"
    case scopeWithdrawn = "scope_withdrawn"

    // The account.
    case accountUnknown = "account_unknown"
    case accountDisabled = "account_disabled"
    case credentialRevoked = "credential_revoked"
    case limitReached = "limit_reached"
    case familyLimitReached = "family_limit_reached"

    // Google's assertion.
    case assertionInvalid = "assertion_invalid"
    case googleAccountDisabled = "google_account_disabled"
    case accountNotMatched = "account_not_matched"
    case accountExists = "account_exists"
}

extension TokenRefusalReason {
    /// A sentence for the client's developer, limited to the characters of RFC 6749 §4.1.2.1. It never quotes
    /// the request.
    public var explanation: String {
        switch self {
        case .requestMalformed: "A parameter or the form is missing or malformed."
        case .clientNotAuthenticated: "The client is unknown, or its secret is missing or wrong."
        case .attestationRequired: "The request must have a proof of App Attest, and has none."
        case .attestationInvalid: "The proof of App Attest does not hold."
        case .grantTypeUnknown: "The grant type is not supported."
        case .grantTypeNotAllowed: "The client may not use this grant type."
        case .scopeNotAllowed: "The client does not have a requested scope."
        case .resourceDiffers: "The resource is not the audience of the client."
        case .codeUnknown: "No such code waits: it was never issued, it is old, or its grant has ended."
        case .codeExpired: "The code has expired; redeem codes at once."
        case .codeRetried:
            "The code was redeemed within the last 10 seconds; use the tokens of that response."
        case .codeUsed: "The code was used before, so the tokens that it gave have ended."
        case .redirectURIDiffers:
            "redirect_uri is missing, or differs from that of the authorization request."
        case .verifierDiffers: "code_verifier is missing, or does not fit the code_challenge."
        case .tokenUnknown: "The text is not a refresh token of this service."
        case .tokenExpired: "The refresh token has expired, by its last use or by its beginning."
        case .tokenRotated: "The refresh token was replaced by a newer token, so its token family has ended."
        case .familyEnded:
            "The token family has ended: revoked, replaced past a limit, ended with the consent, or reused."
        case .refreshNotAllowed: "The client may not use refresh tokens without the scope offline_access."
        case .scopeExceeded: "The scope has more than the refresh token gives."
        case .deviceCodeUnknown:
            "No such device code waits: it was never issued, it is old, or the grant has ended."
        case .deviceCodeExpired: "The device code has expired; request a new one."
        case .authorizationPending: "The user has not decided yet; poll again after the interval."
        case .slowDown: "The poll came before the end of the interval, which is 5 seconds longer from now on."
        case .consentRefused: "The user has refused."
        case .otherClient: "The code or token was issued to another client."
        case .scopeWithdrawn: "The client has none of the granted scopes any more."
        case .accountUnknown: "The account does not exist, or was erased."
        case .accountDisabled: "The account is disabled here; the code or token is good again afterwards."
        case .credentialRevoked:
            "The authorization at Apple is revoked or suspended; the user must sign in again."
        case .limitReached: "The account has given the client too many new grants within an hour."
        case .familyLimitReached:
            "The account has got too many new token families of the client within an hour; refresh the tokens."
        case .assertionInvalid: "The assertion is not a valid ID token of Google for this client."
        case .googleAccountDisabled:
            "Google has disabled the Google account, or had disabled it since the assertion."
        case .accountNotMatched:
            "No account belongs to the Google account; the user must sign in in the browser."
        case .accountExists: "The account exists already; the user must sign in in the browser."
        }
    }
}
