import AuthorizationServer
import StrictJSON

/// The metadata of the authorization server (RFC 8414 §2, OpenID Connect Discovery §3, RFC 9207 §3).
enum ServerMetadata {
    static func document(of settings: OAuthSettings) -> [UInt8] {
        let issuer = settings.issuer
        let clients = settings.clients.clients
        func url(_ endpoint: Endpoint) -> JSONValue { .string(issuer.url(endpoint.path.description)) }
        func list(_ words: [String]) -> JSONValue { .array(words.map { .string($0) }) }
        let authentication = ["client_secret_basic", "client_secret_post"]
        let methods = clients.contains(where: \.allowsPlainProofKeys) ? ["S256", "plain"] : ["S256"]
        let grants = GrantType.all.filter { $0.isOffered(to: clients) }.map(\.name)
        let claims = [
            "iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "email", "email_verified",
            "is_private_email", "name", "given_name", "family_name",
        ]
        let algorithms = Set(clients.map(\.idTokenAlgorithm.rawValue)).union(["RS256"])
        var members: [(String, JSONValue)] = [
            ("issuer", .string(issuer.text)),
            ("authorization_endpoint", url(.authorize)),
            ("token_endpoint", url(.issueTokens)),
            ("revocation_endpoint", url(.revokeToken)),
            ("introspection_endpoint", url(.introspectToken)),
            ("userinfo_endpoint", url(.getUserInfo)),
            ("end_session_endpoint", url(.endSession)),
            ("jwks_uri", url(.getKeySet)),
            // A member of our own: the user's page about the clients that have access.
            ("account_connections_uri", url(.showConnections)),
            ("scopes_supported", list(settings.scopes.scopes.map(\.token.rawValue))),
            ("response_types_supported", list(["code"])),
            ("response_modes_supported", list(["query"])),
            ("grant_types_supported", list(grants)),
            ("code_challenge_methods_supported", list(methods)),
            ("token_endpoint_auth_methods_supported", list(authentication + ["none"])),
            ("revocation_endpoint_auth_methods_supported", list(authentication + ["none"])),
            // `Bearer` is an API key. RFC 8414 §2 also allows the names of the registry "OAuth Access Token
            // Types".
            ("introspection_endpoint_auth_methods_supported", list(authentication + ["Bearer"])),
            ("authorization_response_iss_parameter_supported", .bool(true)),
            ("subject_types_supported", list(["public"])),
            ("id_token_signing_alg_values_supported", list(algorithms.sorted())),
            ("claims_supported", list(claims)),
            ("claims_parameter_supported", .bool(false)),
            ("request_parameter_supported", .bool(false)),
            ("request_uri_parameter_supported", .bool(false)),
            ("prompt_values_supported", list(["none", "login", "consent", "select_account"])),
            ("ui_locales_supported", list(settings.languages.all.map(\.rawValue))),
        ]
        // RFC 8628 §4. Without a client that may use it there is no such endpoint.
        if GrantType.deviceCode.isOffered(to: clients) {
            members.append(("device_authorization_endpoint", url(.authorizeDevice)))
        }
        // Members of our own too, for apps without a backend. The challenge endpoint that a draft of the IETF
        // describes (attestation-based client authentication) has other responses.
        if clients.contains(where: \.isJudged) {
            members.append(("app_attest_challenges_endpoint", url(.mintClientChallenge)))
            members.append(("app_attest_keys_endpoint", url(.registerClientKey)))
        }
        return JSONValue.object(JSONObject(members)).serialized()
    }
}
