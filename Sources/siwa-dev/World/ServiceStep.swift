import AuthorizationServer
import Composition
import EmulatorServer
import HTTPAPI

/// A request to the service, for the console's diagram: its sender, and the section that describes it.
struct ServiceStep {
    let step: ExchangeStep
    let title: String

    init(_ request: RecentRequest) {
        let known = Self.known.first { $0.method == request.method && $0.route == request.route }
        guard let known else {
            let target = request.exchange?.target ?? request.route
            title = "\(request.method) \(target.prefix { $0 != "?" }.prefix(64))"
            step = ExchangeStep(.browser, .siwa, Self.own, isRoutine: target == "/favicon.ico")
            return
        }
        let word = known.field.flatMap { field in
            request.exchange?.form?.first { $0.name == field }?.value
        }
        let variant = word.flatMap { word in known.variants.first { $0.word == word } }
        // A device polls repeatedly until the user has decided, so these polls are routine.
        let isRoutine = known.isRoutine || request.code == "authorization_pending"
        let ofClient: ExchangeStep.Party = request.client == DevelopmentClients.google ? .google : .browser
        step = ExchangeStep(
            known.sender ?? ofClient, .siwa, variant?.standard ?? known.standard, isRoutine: isRoutine)
        title = variant?.title ?? known.title
    }

    /// Reference for a call that no standard describes.
    static let own = "siwa: openapi.yaml"
}

extension ServiceStep {
    /// Requests that share a method and a route.
    struct Known {
        let method: String
        let route: String
        let title: String
        let standard: String
        /// The sender; `nil` for the client that the request names, which can be Google.
        let sender: ExchangeStep.Party?
        /// True for a request that repeats without user action.
        let isRoutine: Bool
        /// The form field whose value selects one of the `variants`.
        let field: String?
        let variants: [Variant]

        init(
            _ method: String, _ route: String, _ title: String, _ standard: String,
            from sender: ExchangeStep.Party? = .browser, isRoutine: Bool = false, by field: String? = nil,
            _ variants: [Variant] = []
        ) {
            (self.method, self.route, self.title, self.standard) = (method, route, title, standard)
            (self.sender, self.isRoutine) = (sender, isRoutine)
            (self.field, self.variants) = (field, variants)
        }
    }

    /// A variant of the request, selected by the field's value.
    typealias Variant = (word: String, title: String, standard: String)
}

extension ServiceStep {
    /// The requests that have a title of their own in the diagram, and usually a standard to cite. Any other
    /// request is shown by its method and path. A test compares this list with the API's endpoints.
    static let known = browserSteps + clientSteps + partySteps + backendSteps + routineSteps

    /// Requests from a user's browser.
    private static let browserSteps = [
        Known("GET", "/oauth/authorize", "Open siwa's page", "RFC 6749 §4.1.1"),
        Known(
            "POST", "/oauth/authorize", "Answer siwa's page", consent, by: "decision",
            [
                ("agree", "The user agrees", consent),
                ("cancel", "The user cancels", "RFC 6749 §4.1.2.1"),
            ]),
        Known("GET", "/v1/web/sign-in", "Begin the sign-in on the web", "OpenID Connect Core §3.1.2.1"),
        Known("POST", "/v1/web/callback", "Bring Apple's answer", "OAuth 2.0 Form Post Response Mode §2"),
        Known("GET", "/v1/web/finish", "Finish the sign-in", "OpenID Connect Core §3.1.2.5"),
        Known("GET", "/oauth/device", "Open the page for devices", "RFC 8628 §3.3"),
        Known(
            "POST", "/oauth/device", "Answer the page for devices", "RFC 8628 §3.3", by: "decision",
            [
                ("agree", "The user allows the device", "RFC 8628 §3.3"),
                ("cancel", "The user refuses the device", "RFC 8628 §3.3"),
            ]),
        Known("GET", "/oauth/logout", "Open the page for signing out", logout),
        Known(
            "POST", "/oauth/logout", "Ask to sign out", logout, by: "decision",
            [
                ("sign_out", "The user signs out", logout),
                ("stay", "The user stays signed in", logout),
            ]),
        Known("GET", "/account/connections", "Open the page of connections", own),
        Known("POST", "/account/connections", "Answer the page of connections", own),
    ]

    /// Requests from OAuth clients, including Google.
    private static let clientSteps = [
        Known(
            "POST", "/oauth/token", "Ask for tokens", "RFC 6749 §3.2", from: nil, by: "grant_type",
            GrantType.all.map { ($0.name, $0.title, $0.standard) }),
        Known("POST", "/oauth/device_authorization", "Begin on a device", "RFC 8628 §3.1", from: nil),
        Known("POST", "/oauth/introspect", "Ask about a token", "RFC 7662 §2.1", from: nil),
        Known("POST", "/oauth/revoke", "End a token", "RFC 7009 §2.1", from: nil),
        Known("GET", "/oauth/revoke", "Ask how tokens end", "RFC 7009 §2.1", from: nil),
        Known("GET", "/oauth/userinfo", "Ask about the user", "OpenID Connect Core §5.3.1", from: nil),
        Known("POST", "/oauth/userinfo", "Ask about the user", "OpenID Connect Core §5.3.1", from: nil),
        Known("POST", "/oauth/nonce", "Ask for a nonce", own, from: nil),
        Known(
            "POST", "/oauth/app-attest/challenges", "Ask for a challenge", appAttest, from: nil),
        Known("POST", "/oauth/app-attest/keys", "Register the app's key", appAttest, from: nil),
        Known("GET", "/oauth/jwks.json", "Fetch siwa's keys", "RFC 7517 §5"),
        Known("GET", "/v1/jwks.json", "Fetch siwa's keys", "RFC 7517 §5"),
        Known(
            "GET", "/.well-known/oauth-authorization-server", "Fetch siwa's configuration", "RFC 8414 §3"),
        Known(
            "GET", "/.well-known/openid-configuration", "Fetch siwa's configuration",
            "OpenID Connect Discovery §4"),
        Known(
            "GET", "/.well-known/risc-configuration", "Fetch the configuration of events",
            "OpenID SSF §7.2"),
        Known(
            "GET", "/.well-known/ssf-configuration", "Fetch the configuration of events", "OpenID SSF §7.2"),
        Known("GET", "/oauth/events/stream", "Ask about the stream of events", "OpenID SSF §8.1"),
        Known("POST", "/oauth/events/verify", "Ask for an event to verify", "OpenID SSF §8.1"),
        Known(
            "GET", "/.well-known/apple-app-site-association", "Fetch the app's links for iOS",
            "Apple: Supporting associated domains"),
        Known(
            "GET", "/.well-known/assetlinks.json", "Fetch the app's links for Android",
            "Google: Digital Asset Links"),
    ]

    /// Requests that Google and Apple send. The fakes record their own requests, so these come from other
    /// programs that simulate Google and Apple.
    private static let partySteps = [
        Known("POST", "/v1/apple/notifications", "Send a notification", "RFC 8417 §2", from: .apple),
        Known("POST", "/v1/google/security-events", "Send an event", "RFC 8935 §2.1", from: .google),
    ]

    /// Requests from backends.
    private static let backendSteps = [
        Known("POST", "/v1/sign-ins", "Sign in with the token", tokenCheck),
        Known("POST", "/v1/identity-tokens/verify", "Verify a token", tokenCheck),
        Known("POST", "/v1/web/results", "Collect the result", "OpenID Connect Core §3.1.3"),
        Known("POST", "/v1/app-attest/challenges", "Ask for a challenge", appAttest),
        Known("POST", "/v1/app-attest/keys", "Register the app's key", appAttest),
        Known("GET", "/v1/app-attest/keys/{key_id}", "Ask about the app's key", appAttest),
        Known("POST", "/v1/oauth/app-flip", "Answer Google's app", "Google: App Flip"),
        Known("POST", "/v1/oauth/app-flip/prompt", "Ask what the app shows", "Google: App Flip"),
    ]

    /// Requests that repeat without user action.
    private static let routineSteps = [
        Known("GET", "/v1/events", "Read the feed of events", own, isRoutine: true),
        Known(
            "POST", "/v1/event-receivers/{name}/poll", "Poll for events", "RFC 8936 §2.2", isRoutine: true),
        Known("POST", "/oauth/events/poll", "Poll for events", "RFC 8936 §2.2", isRoutine: true),
        Known("GET", "/livez", "Ask if siwa lives", own, isRoutine: true),
        Known("GET", "/readyz", "Ask if siwa is ready", own, isRoutine: true),
        Known("GET", "/health", "Ask about siwa's health", own, isRoutine: true),
        Known("GET", "/version", "Ask for siwa's version", own, isRoutine: true),
        Known("GET", "/metrics", "Read the metrics", own, isRoutine: true),
    ]

    private static let consent = "OpenID Connect Core §3.1.2.4"
    private static let tokenCheck = "OpenID Connect Core §3.1.3.7"
    private static let logout = "OpenID RP-Initiated Logout §2"
    private static let appAttest = "Apple: App Attest"
}
