import EmulatorServer

/// Requests of a browser, of an app or of its backend to the service, as the console's diagram names them.
enum ServiceStep {
    private struct Known {
        let method: String
        let path: String
        let title: String
        let standard: String

        init(_ method: String, _ path: String, _ title: String, _ standard: String) {
            (self.method, self.path, self.title, self.standard) = (method, path, title, standard)
        }
    }

    private static let known = [
        Known("GET", "/oauth/authorize", "Open siwa's page", "RFC 6749 §4.1.1"),
        Known("POST", "/oauth/authorize", "The user agrees", "OpenID Connect Core §3.1.2.4"),
        Known("GET", "/v1/web/sign-in", "Begin the sign-in on the web", "OpenID Connect Core §3.1.2.1"),
        Known("POST", "/v1/web/callback", "Bring Apple's answer", "OAuth 2.0 Form Post Response Mode §2"),
        Known("GET", "/v1/web/finish", "Finish the sign-in", "OpenID Connect Core §3.1.2.5"),
        Known("POST", "/v1/web/results", "Collect the result", "OpenID Connect Core §3.1.3"),
        Known("POST", "/v1/sign-ins", "Sign in with the token", "OpenID Connect Core §3.1.3.7"),
        Known("POST", "/v1/identity-tokens/verify", "Verify a token", "OpenID Connect Core §3.1.3.7"),
        Known("POST", "/oauth/token", "Ask for tokens", "RFC 6749 §3.2"),
        Known("POST", "/oauth/introspect", "Ask about a token", "RFC 7662 §2.1"),
        Known("POST", "/oauth/revoke", "End a token", "RFC 7009 §2.1"),
        Known("GET", "/oauth/userinfo", "Ask about the user", "OpenID Connect Core §5.3"),
        Known("GET", "/oauth/jwks.json", "Fetch siwa's keys", "RFC 7517 §5"),
        Known("GET", "/oauth/device", "Open the page for devices", "RFC 8628 §3.3"),
        Known("POST", "/oauth/device", "Allow a device", "RFC 8628 §3.3"),
        Known("POST", "/oauth/device_authorization", "Begin on a device", "RFC 8628 §3.1"),
        Known("GET", "/oauth/logout", "Open the page for signing out", "OpenID RP-Initiated Logout §2"),
        Known("POST", "/oauth/logout", "Sign out", "OpenID RP-Initiated Logout §2"),
    ]

    /// The step of a request, and its title. A call that has no standard is siwa's own.
    static func of(_ method: String, _ path: Substring) -> (step: ExchangeStep, title: String) {
        guard let known = known.first(where: { $0.method == method && $0.path == path }) else {
            return (ExchangeStep(.browser, .siwa, "siwa: openapi.yaml"), "\(method) \(path.prefix(64))")
        }
        return (ExchangeStep(.browser, .siwa, known.standard), known.title)
    }
}
