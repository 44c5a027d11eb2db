/// Where and how an authorization request is answered: everything but the answer (RFC 6749 §4.1.2).
public struct AuthorizationResponse: Sendable, Hashable {
    public let target: RedirectTarget
    /// `nil` when the request had none, or one that is not sent back.
    public let state: RequestState?
    /// The `iss` by which a client of several servers knows who has answered (RFC 9207). `nil` in App Flip,
    /// where Google knows it from the app.
    public let issuer: Issuer?

    init(target: RedirectTarget, state: RequestState?, issuer: Issuer?) {
        self.target = target
        self.state = state
        self.issuer = issuer
    }

    /// The URL to redirect to with a code.
    public func location(code: String) -> String {
        var query = QueryText()
        query.append("code", code)
        return finished(query)
    }

    /// The URL to redirect to with an error.
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
