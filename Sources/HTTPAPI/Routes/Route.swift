/// The calls of this interface.
enum Route: Int, Sendable, CaseIterable {
    case verifyIdentityToken, signIn, account, findAccount, credential, queryCredentials, mintNonce, events
    case appleNotification
    case livez, readyz, health, version, metrics

    enum Method: String, Sendable { case get = "GET", post = "POST" }

    var method: Method {
        switch self {
        case .verifyIdentityToken, .signIn, .queryCredentials, .mintNonce, .appleNotification: .post
        case .account, .findAccount, .credential, .events, .livez, .readyz, .health, .version, .metrics: .get
        }
    }

    /// The path without its values: what the log and the metrics may show.
    var template: StaticString {
        switch self {
        case .verifyIdentityToken: "/v1/identity-tokens/verify"
        case .signIn: "/v1/sign-ins"
        case .account: "/v1/accounts/{id}"
        case .findAccount: "/v1/accounts"
        case .credential: "/v1/credentials/{sub}"
        case .queryCredentials: "/v1/credentials/query"
        case .mintNonce: "/v1/nonces"
        case .events: "/v1/events"
        case .appleNotification: "/v1/apple/notifications"
        case .livez: "/livez"
        case .readyz: "/readyz"
        case .health: "/health"
        case .version: "/version"
        case .metrics: "/metrics"
        }
    }

    /// Apple cannot bring an API key, and a load balancer should not need one. Metrics tell how many people sign in,
    /// and stand on the port that faces the internet: they take a key.
    var isPublic: Bool {
        switch self {
        case .appleNotification, .livez, .readyz, .health, .version: true
        case .verifyIdentityToken, .signIn, .account, .findAccount, .credential, .queryCredentials,
            .mintNonce,
            .events, .metrics:
            false
        }
    }

    /// Whether a body is read. `POST /v1/nonces` needs none.
    var takesBody: Bool {
        switch self {
        case .verifyIdentityToken, .signIn, .queryCredentials, .appleNotification: true
        case .account, .findAccount, .credential, .mintNonce, .events, .livez, .readyz, .health, .version,
            .metrics:
            false
        }
    }

    /// A long poll may be ended at any time with what it has.
    var waits: Bool { self == .events }
}
