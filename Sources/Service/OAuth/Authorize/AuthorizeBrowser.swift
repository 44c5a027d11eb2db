/// Cookies and fields that the browser sent with a request to `/oauth/authorize`.
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

/// The user's decision on the consent page.
public struct ConsentForm: Sendable {
    public enum Decision: String, Sendable, CaseIterable {
        case agree, cancel
    }

    public var token: String?
    /// `nil` when the form has neither word.
    public var decision: Decision?
    /// The scopes whose checkbox is ticked. Scopes that were not requested are ignored.
    public var tickedScopes: Set<String>

    public init(token: String?, decision: Decision?, tickedScopes: Set<String> = []) {
        (self.token, self.decision, self.tickedScopes) = (token, decision, tickedScopes)
    }
}
