import KeySets
import NIOCore
import SignIn

/// The calls of this interface.
enum Route: Int, Sendable, CaseIterable {
    case verifyIdentityToken, signIn, account, findAccount, credential, queryCredentials, mintNonce, events
    case eraseAccount, erasure
    case appleNotification
    case webSignIn, webCallback, webFinish, webResult
    case livez, readyz, health, version, metrics, openAPI

    var method: RouteMethod {
        switch self {
        case .verifyIdentityToken, .signIn, .queryCredentials, .mintNonce, .appleNotification, .webCallback,
            .webResult:
            .post
        case .account, .findAccount, .credential, .events, .erasure, .webSignIn, .webFinish, .livez, .readyz,
            .health, .version, .metrics, .openAPI:
            .get
        case .eraseAccount: .delete
        }
    }

    /// The path without its values: what the log and the metrics may show. Two calls can stand on one path.
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
        case .livez: "/livez"
        case .readyz: "/readyz"
        case .health: "/health"
        case .version: "/version"
        case .metrics: "/metrics"
        case .openAPI: "/openapi.yaml"
        }
    }

    /// Neither Apple nor a browser can bring an API key, and a load balancer should not need one. Metrics tell how
    /// many people sign in, and stand on the port that faces the internet: they take a key.
    var isPublic: Bool {
        switch self {
        case .appleNotification, .webSignIn, .webCallback, .webFinish, .livez, .readyz, .health, .version,
            .openAPI:
            true
        case .verifyIdentityToken, .signIn, .account, .findAccount, .credential, .queryCredentials,
            .mintNonce, .events, .eraseAccount, .erasure, .webResult, .metrics:
            false
        }
    }

    /// The form of the body that is read. `POST /v1/nonces` needs none.
    var body: BodyFormat {
        switch self {
        case .verifyIdentityToken, .signIn, .queryCredentials, .appleNotification, .webResult: .json
        case .webCallback: .form
        case .account, .findAccount, .credential, .mintNonce, .events, .eraseAccount, .erasure, .webSignIn,
            .webFinish, .livez, .readyz, .health, .version, .metrics, .openAPI:
            .none
        }
    }

    /// Whether the call exists only where the web relay is configured.
    var belongsToWebRelay: Bool {
        switch self {
        case .webSignIn, .webCallback, .webFinish, .webResult: true
        default: false
        }
    }

    /// How long the call waits by intention, at most.
    var ownWait: TimeAmount {
        switch self {
        case .events: TimeAmount(SignInUseCases.longestWait)
        case .eraseAccount: TimeAmount(SignInUseCases.longestErasureWait)
        // A fetch that fails says so itself. Given up before that, the call would blame the database.
        case .verifyIdentityToken, .signIn, .appleNotification, .webCallback: Self.longestKeyWait
        default: .zero
        }
    }

    private static let longestKeyWait = TimeAmount.milliseconds(KeySetBounds().longestFetch)

    /// A long poll may be ended at any time with what it has.
    var isLongPoll: Bool { self == .events }
}

/// How the body of a call is written.
enum BodyFormat: Sendable {
    case none
    case json
    /// `application/x-www-form-urlencoded`, as browsers post a page's form.
    case form
}
