/// What the browser sent along with a request to `/oauth/authorize`.
public struct AuthorizeBrowser: Sendable {
    /// The cookie of the session.
    public var session: String?
    /// The cookie of web sign-ins.
    public var webSignIn: String?
    public var userAgent: String?

    public init(session: String? = nil, webSignIn: String? = nil, userAgent: String? = nil) {
        (self.session, self.webSignIn, self.userAgent) = (session, webSignIn, userAgent)
    }
}

/// What the person decided on the consent page.
public struct ConsentForm: Sendable {
    public enum Decision: String, Sendable, CaseIterable {
        case agree, cancel
    }

    public var token: String?
    /// `nil` when it is none of the two.
    public var decision: Decision?
    /// The scopes whose checkbox is ticked. Others than those of the request do not count.
    public var tickedScopes: Set<String>

    public init(token: String?, decision: Decision?, tickedScopes: Set<String> = []) {
        (self.token, self.decision, self.tickedScopes) = (token, decision, tickedScopes)
    }
}
