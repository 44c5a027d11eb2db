import AppleAccounts
import Encodings

/// A request to end a browser session (OpenID Connect RP-Initiated Logout 1.0 §2).
public struct LogoutRequest: Sendable, Confidential {
    /// An ID token of unknown origin. `nil` also for a malformed token, because it is only a hint.
    public let idTokenHint: String?
    public let clientID: String?
    public let postLogoutRedirectURI: String?
    public let state: RequestState?
    public let languages: RequestedLanguages

    /// - Throws: `invalid_request` for a repeated, malformed or overlong parameter.
    public init(query: String) throws(OAuthError) {
        let parameters: FormParameters
        do throws(FormParameters.TooMany) {
            parameters = try FormParameters(parsing: query.utf8, as: .query)
        } catch {
            throw OAuthError(
                .invalidRequest,
                "The request has more than \(FormParameters.mostParameters) parameters or "
                    + "\(FormParameters.mostBytes) bytes; shorten it.")
        }
        let reader = ParameterReader(parameters)
        idTokenHint = try reader.hint(.idTokenHint)
        clientID = try reader.text(.clientID)
        postLogoutRedirectURI = try reader.text(.postLogoutRedirectURI)
        state = try reader.state()
        _ = try reader.hint(.uiLocales)
        _ = try reader.hint(.userLocale)
        languages = RequestedLanguages(reader)
    }

    /// Returns the query that repeats this request from the form of the confirmation page. It contains
    /// the client ID, but not the ID token.
    ///
    /// - Parameter clientID: The client from the ID token or from the request.
    public func query(clientID: String?) -> String {
        var query = QueryText()
        if let clientID { query.append("client_id", clientID) }
        if let postLogoutRedirectURI { query.append("post_logout_redirect_uri", postLogoutRedirectURI) }
        if let state { query.append("state", encoded: state.encoded) }
        let tags = languages.tags.joined(separator: " ")
        if !tags.isEmpty, tags.utf8.count <= RequestParameter.uiLocales.longest {
            query.append("ui_locales", tags)
        }
        return query.text
    }

    /// Returns the URL that the browser is sent to after sign-out. Returns `nil` unless the client has
    /// registered exactly this URI.
    public func location(at client: OAuthClient?) -> String? {
        guard let target = target(at: client) else { return nil }
        guard let state else { return target.text }
        var query = QueryText()
        query.append("state", encoded: state.encoded)
        return query.appended(to: target.text)
    }

    /// Returns the target for the registered URI that the request names; `nil` if it names none.
    public func target(at client: OAuthClient?) -> RedirectTarget? {
        guard let client, let uri = postLogoutRedirectURI else { return nil }
        return client.postLogoutTarget(for: uri)
    }
}
