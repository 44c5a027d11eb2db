import Encodings

/// The authorization request that the browser makes (RFC 6749 §4.1.1, RFC 7636 §4.3).
struct AuthorizationURL {
    let endpoint: String
    let clientID: String
    let redirectURI: String
    let scope: RequestedScope
    let secrets: LoginSecrets

    var text: String {
        var fields = [
            (name: "response_type", value: "code"), ("client_id", clientID), ("redirect_uri", redirectURI),
        ]
        if let scope = scope.text { fields.append(("scope", scope)) }
        fields.append(("state", secrets.state))
        if scope.mayHaveOpenID { fields.append(("nonce", secrets.nonce)) }
        fields += [("code_challenge", secrets.challenge), ("code_challenge_method", "S256")]
        // The query of the endpoint must be kept (RFC 6749 §3.1).
        return endpoint + (endpoint.contains("?") ? "&" : "?") + FormEncoding.encode(fields)
    }
}
