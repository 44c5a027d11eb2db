import AppAttestation
import AppleAccounts
import AppleIdentity
import AuthorizationServer
import OAuth

extension RecentRefusal {
    /// Maximum size of a request value that is kept, in bytes.
    private static let longestFound = 200

    /// Describes the check that refused the request. Truncates the values in an error, because they come from
    /// a client.
    init(_ error: any Error, sent: SentAuthorization = .none) {
        switch error {
        case let error as AppleTokenError:
            self.init(
                check: "\(error.step.rawValue) of the identity token or notification",
                expected: error.code.type.expected, found: Self.bounded(error.detail))
        case let error as StorageError:
            // The error contains SQL without values, and the database's own error code.
            self.init(
                check: "database", expected: error.problem.detail,
                found: Self.bounded("\(error.code.rawValue) \(error.databaseCode ?? "")"))
        case let error as TokenEndpointError: self.init(error.error, sent)
        case let error as OAuthError: self.init(error, sent)
        case let error as GuessingPaused: self.init(error.error.error, sent)
        case let error as RequestsPaused: self.init(error.error.error, sent)
        case let refusal as BearerRefusal: self.init(refusal.error, sent)
        default:
            let problem = Problem(describing: error)
            let isUnauthenticated = problem.type == ProblemCode.callerUnauthenticated.type
            self.init(
                check: problem.type.title, expected: problem.detail,
                found: isUnauthenticated ? sent.finding : problem.subject?.text)
        }
    }

    private static func bounded(_ text: String) -> String? {
        let text = text.utf8.prefix(longestFound)
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }
}

extension Problem.Subject {
    fileprivate var text: String {
        switch self {
        case .member(let name): "member \(name.prefix(64))"
        case .parameter(let name): "parameter \(name.prefix(64))"
        }
    }
}

extension RecentRefusal {
    /// Records the violated rule and the error's explanation. The explanation never quotes the request.
    init(_ error: OAuthError, _ sent: SentAuthorization) {
        let reason = error.reason
        var said = error.code == .invalidGrant ? reason?.explanation ?? error.explanation : error.explanation
        // In development, the text for the client begins with the reason, which `check` already contains.
        if let reason, said.hasPrefix("\(reason.rawValue): ") {
            said = String(said.dropFirst(reason.rawValue.count + 2))
        }
        if let cause = error.appCheckCause { said += " Cause: \(cause.code)." }
        if error.code == .invalidClient || error.code == .invalidToken { said += " Sent: \(sent.text)." }
        self.init(
            check: reason?.rawValue ?? error.code.rawValue,
            expected: reason?.expectation ?? error.code.expectation, found: said)
    }
}

extension SentAuthorization {
    /// The fault in a request without a valid API key.
    var finding: String {
        switch self {
        case .apiKey: "\(text), which is not one of the configuration"
        case .none, .bearer, .basic, .other: text
        }
    }
}

extension TokenRefusalReason {
    /// The rule that a refused token request violates.
    fileprivate var expectation: String {
        switch self {
        case .requestMalformed: "A form with each parameter of the grant type once."
        case .clientNotAuthenticated:
            "The ID of a configured client with its secret, by HTTP Basic or as parameters; a public client has none."
        case .attestationRequired:
            "A proof of App Attest in the header fields, because App Check is enforced."
        case .attestationInvalid: "A proof of App Attest by a key that is registered, for this request."
        case .grantTypeUnknown: "A grant type that this service has."
        case .grantTypeNotAllowed: "A grant type that the kind and the settings of the client allow."
        case .scopeNotAllowed: "Scopes of the client's configuration."
        case .resourceDiffers: "The audience of the client as the resource."
        case .codeUnknown: "A code that waits, as the redirect has it, percent-decoded once."
        case .codeExpired: "A code before the end of its life, which is code_lifetime of the client."
        case .codeRetried, .codeUsed: "A code that was not redeemed before."
        case .redirectURIDiffers: "The redirect_uri of the authorization request, byte for byte."
        case .verifierDiffers:
            "The code_verifier whose SHA-256 is the code_challenge of the authorization request."
        case .tokenUnknown: "A refresh token of this service."
        case .tokenExpired: "A refresh token within the lifetimes of the client."
        case .tokenRotated: "The newest refresh token of its family."
        case .familyEnded: "A refresh token of a token family that has not ended."
        case .refreshNotAllowed: "The scope offline_access."
        case .scopeExceeded: "Scopes that the refresh token has."
        case .deviceCodeUnknown: "A device code that waits."
        case .deviceCodeExpired: "A device code before the end of its life."
        case .authorizationPending: "The decision of the user."
        case .slowDown: "Polls at the interval of the response."
        case .consentRefused: "The consent of the user."
        case .otherClient: "A code or token of the client that sends it."
        case .scopeWithdrawn: "A granted scope that the client still has in its configuration."
        case .accountUnknown: "An account that exists."
        case .accountDisabled: "An account that is not disabled."
        case .credentialRevoked: "A user whose authorization at Apple holds."
        case .limitReached: "At most the configured number of new grants of an account within an hour."
        case .familyLimitReached:
            "At most \(GrantPace.mostFamilies) new token families of an account and a client within an hour."
        case .assertionInvalid: "An ID token of Google for this project, signed by Google and not expired."
        case .googleAccountDisabled: "A Google account that Google has not disabled."
        case .accountNotMatched: "A Google account that belongs to an account."
        case .accountExists: "A Google account that belongs to no account."
        }
    }
}

extension OAuthError.Code {
    /// The rule that a request violates if its refusal has no reason, such as a request with an access token.
    var expectation: String {
        switch self {
        case .invalidToken: "Authorization: Bearer with an access token of this service that is good now."
        case .insufficientScope: "An access token with the scope that the call needs."
        case .accessDenied: "The consent of the user, and an account that is not disabled."
        case .temporarilyUnavailable, .serverError: "A service that works, and is within its limits."
        case .loginRequired, .consentRequired, .interactionRequired:
            "A session of the browser that answers without the user."
        case .linkingError, .unrecoverable, .cancelled: "A linking that the user finishes."
        case .redirectURIMismatch: "A redirect URI of the client's configuration."
        case .disallowedUserAgent: "A browser of its own, and no web view in an app."
        case .unsupportedResponseType: "response_type=code."
        case .requestNotSupported, .requestURINotSupported:
            "Parameters in the request itself, without request objects."
        case .invalidRequest, .invalidClient, .invalidGrant, .unauthorizedClient, .unsupportedGrantType,
            .invalidScope, .invalidTarget, .authorizationPending, .slowDown, .expiredToken:
            "A request as the standard has it."
        }
    }
}

/// The type of a request's `Authorization` header, for operators. Does not contain the header's value.
enum SentAuthorization: Sendable, Equatable {
    case none
    /// A Bearer token that has the prefix of an API key.
    case apiKey
    case bearer
    case basic
    /// Another scheme, or a repeated header.
    case other

    init(_ field: String?) {
        guard let field else {
            self = .none
            return
        }
        if let token = BearerField(field)?.token {
            self = token.hasPrefix(APIKeySecret.prefix) ? .apiKey : .bearer
        } else {
            self = field.prefix(6).lowercased() == "basic " ? .basic : .other
        }
    }

    var text: String {
        switch self {
        case .none: "no Authorization"
        case .apiKey: "Authorization: Bearer with an API key"
        case .bearer: "Authorization: Bearer with a text that does not begin like an API key"
        case .basic: "Authorization: Basic"
        case .other: "Authorization with neither Bearer nor Basic, or twice"
        }
    }
}
