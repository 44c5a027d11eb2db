import Encodings

/// The redirect of an authorization response: everything except code or error (RFC 6749 §4.1.2).
public struct AuthorizationResponse: Sendable, Hashable {
    public let target: RedirectTarget
    /// `nil` when the request had no `state`, or an invalid `state`, which is not sent back.
    public let state: RequestState?
    /// The `iss` by which a client of several servers recognizes the server (RFC 9207). `nil` in App Flip,
    /// where Google knows the server from the app.
    public let issuer: Issuer?

    init(target: RedirectTarget, state: RequestState?, issuer: Issuer?) {
        self.target = target
        self.state = state
        self.issuer = issuer
    }

    /// Returns the URL to redirect to with a code.
    public func location(code: String) -> String {
        var query = QueryText()
        query.append("code", code)
        return finished(query)
    }

    /// Returns the URL to redirect to with an error.
    public func location(error: OAuthError) -> String {
        var query = QueryText()
        query.append("error", error.code.rawValue)
        query.append("error_description", error.explanation)
        return finished(query)
    }

    private func finished(_ query: QueryText) -> String {
        var query = query
        if let state { query.append("state", encoded: state.encoded) }
        if let issuer { query.append("iss", issuer.text) }
        return query.appended(to: target.text)
    }
}
