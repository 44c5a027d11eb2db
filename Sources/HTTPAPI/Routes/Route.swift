import KeySets
import NIOCore
import SignIn

/// The routes of this interface.
enum Route: Int, Sendable, CaseIterable {
    case verifyIdentityToken, signIn, account, findAccount, credential, queryCredentials, mintNonce, events
    case eraseAccount, erasure
    case appleNotification
    case webSignIn, webCallback, webFinish, webResult
    case authorize, answerConsent
    case oauthToken, oauthRevoke, explainRevocation, oauthIntrospect, userInfo, postUserInfo, keySet
    case serverMetadata, openIDMetadata, riscConfiguration, appSiteAssociation
    case appFlip, grants, endGrant, googleEvents
    case livez, readyz, health, version, metrics, openAPI

    var method: RouteMethod {
        switch self {
        case .verifyIdentityToken, .signIn, .queryCredentials, .mintNonce, .appleNotification, .webCallback,
            .webResult, .answerConsent, .oauthToken, .oauthRevoke, .oauthIntrospect, .postUserInfo, .appFlip,
            .googleEvents:
            .post
        case .account, .findAccount, .credential, .events, .erasure, .webSignIn, .webFinish, .livez, .readyz,
            .health, .version, .metrics, .openAPI, .explainRevocation, .userInfo, .keySet, .serverMetadata,
            .openIDMetadata, .riscConfiguration, .appSiteAssociation, .grants, .authorize:
            .get
        case .eraseAccount, .endGrant: .delete
        }
    }

    /// The path without its values, for the log and the metrics. Two routes can have the same path.
    var template: StaticString {
        switch self {
        case .verifyIdentityToken: "/v1/identity-tokens/verify"
        case .signIn: "/v1/sign-ins"
        case .account, .eraseAccount: "/v1/accounts/{id}"
        case .findAccount: "/v1/accounts"
        case .credential: "/v1/credentials/{sub}"
        case .queryCredentials: "/v1/credentials/query"
        case .mintNonce: "/v1/nonces"
        case .events: "/v1/events"
        case .erasure: "/v1/erasures/{id}"
        case .appleNotification: "/v1/apple/notifications"
        case .webSignIn: "/v1/web/sign-in"
        case .webCallback: "/v1/web/callback"
        case .webFinish: "/v1/web/finish"
        case .webResult: "/v1/web/results"
        case .authorize, .answerConsent: "/oauth/authorize"
        case .oauthToken: "/oauth/token"
        case .oauthRevoke, .explainRevocation: "/oauth/revoke"
        case .oauthIntrospect: "/oauth/introspect"
        case .userInfo, .postUserInfo: "/oauth/userinfo"
        case .keySet: "/oauth/jwks.json"
        case .serverMetadata: "/.well-known/oauth-authorization-server"
        case .openIDMetadata: "/.well-known/openid-configuration"
        case .riscConfiguration: "/.well-known/risc-configuration"
        case .appSiteAssociation: "/.well-known/apple-app-site-association"
        case .appFlip: "/v1/oauth/app-flip"
        case .grants: "/v1/accounts/{id}/grants"
        case .endGrant: "/v1/accounts/{id}/grants/{grant_id}"
        case .googleEvents: "/v1/google/security-events"
        case .livez: "/livez"
        case .readyz: "/readyz"
        case .health: "/health"
        case .version: "/version"
        case .metrics: "/metrics"
        case .openAPI: "/openapi.yaml"
        }
    }

    /// Apple and browsers cannot send an API key, and a load balancer should not need one. The metrics reveal
    /// how many users sign in and are on the port that faces the internet, so they need a key.
    var isPublic: Bool {
        switch self {
        case .appleNotification, .webSignIn, .webCallback, .webFinish, .authorize, .answerConsent, .livez,
            .readyz, .health, .version, .openAPI:
            true
        // Clients authenticate themselves as OAuth says; introspection also takes an API key.
        case .oauthToken, .oauthRevoke, .explainRevocation, .oauthIntrospect, .userInfo, .postUserInfo,
            .keySet, .serverMetadata, .openIDMetadata, .riscConfiguration, .appSiteAssociation,
            .googleEvents:
            true
        case .verifyIdentityToken, .signIn, .account, .findAccount, .credential, .queryCredentials,
            .mintNonce, .events, .eraseAccount, .erasure, .webResult, .metrics, .appFlip, .grants, .endGrant:
            false
        }
    }

    /// The form of the request body. `POST /v1/nonces` needs none.
    var body: BodyFormat {
        switch self {
        case .verifyIdentityToken, .signIn, .queryCredentials, .appleNotification, .webResult, .appFlip: .json
        case .webCallback, .answerConsent: .form
        case .oauthToken, .oauthRevoke, .oauthIntrospect: .oauthForm
        case .googleEvents: .securityEventToken
        case .account, .findAccount, .credential, .mintNonce, .events, .eraseAccount, .erasure, .webSignIn,
            .webFinish, .livez, .readyz, .health, .version, .metrics, .openAPI, .explainRevocation, .userInfo,
            .postUserInfo, .keySet, .serverMetadata, .openIDMetadata, .riscConfiguration, .appSiteAssociation,
            .grants, .endGrant, .authorize:
            .none
        }
    }

    /// Whether the route exists only where the web flow is configured.
    var belongsToWebRelay: Bool {
        switch self {
        case .webSignIn, .webCallback, .webFinish, .webResult: true
        default: false
        }
    }

    /// Whether the route exists only where OAuth clients are configured.
    var belongsToOAuth: Bool {
        switch self {
        case .oauthToken, .oauthRevoke, .explainRevocation, .oauthIntrospect, .userInfo, .postUserInfo,
            .keySet, .serverMetadata, .openIDMetadata, .riscConfiguration, .appSiteAssociation, .appFlip,
            .grants, .endGrant, .googleEvents:
            true
        default: false
        }
    }

    /// Whether the route is one of the authorization endpoint.
    var belongsToAuthorization: Bool { self == .authorize || self == .answerConsent }

    /// Whether the route looks at what kind of browser it has before it.
    var readsBrowserFields: Bool {
        belongsToAuthorization || self == .webFinish || self == .webCallback
    }

    /// Whether the route itself answers for a body of another content type, with the error that its standard
    /// wants.
    var explainsContentType: Bool { self == .answerConsent }

    /// How long the route waits by design, at most.
    var ownWait: TimeAmount {
        switch self {
        case .events: TimeAmount(SignInUseCases.longestWait)
        case .eraseAccount: TimeAmount(SignInUseCases.longestErasureWait)
        // A failed fetch of keys reports itself. A time limit before that would blame the database.
        case .verifyIdentityToken, .signIn, .appleNotification, .webCallback, .oauthToken, .appFlip,
            .googleEvents:
            Self.longestKeyWait
        default: .zero
        }
    }

    private static let longestKeyWait = TimeAmount.milliseconds(KeySetBounds().longestFetch)

    /// A long poll may be ended at any time with what it has.
    var isLongPoll: Bool { self == .events }
}

/// The form of a request body.
enum BodyFormat: Sendable {
    case none
    case json
    /// `application/x-www-form-urlencoded`, as browsers post an HTML form.
    case form
    /// The same, read by the rules of OAuth, which has another answer to a wrong content type.
    case oauthForm
    /// `application/secevent+jwt` (RFC 8935 §2.1).
    case securityEventToken
}
