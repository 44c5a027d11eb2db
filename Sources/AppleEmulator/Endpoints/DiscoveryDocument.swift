import StrictJSON

/// OpenID provider metadata with the members and values of Apple's document (OpenID Connect Discovery 1.0
/// §3).
///
/// The issuer is Apple's, as in every token; the endpoints have the base URL with which the client reached
/// the emulator.
struct DiscoveryDocument {
    /// Without a slash at the end.
    let baseURL: String

    var answer: EndpointAnswer {
        EndpointAnswer(
            contentType: EndpointAnswer.jsonType, body: JSONValue.object(json).serialized())
    }

    private var json: JSONObject {
        JSONObject([
            ("issuer", .string(IdentityTokenClaims.issuer)),
            ("authorization_endpoint", .string("\(baseURL)/auth/authorize")),
            ("token_endpoint", .string("\(baseURL)/auth/token")),
            ("revocation_endpoint", .string("\(baseURL)/auth/revoke")),
            ("jwks_uri", .string("\(baseURL)/auth/keys")),
            ("response_types_supported", Self.words(["code"])),
            ("response_modes_supported", Self.words(["query", "fragment", "form_post"])),
            ("subject_types_supported", Self.words(["pairwise"])),
            ("id_token_signing_alg_values_supported", Self.words(["RS256"])),
            ("scopes_supported", Self.words(["openid", "email", "name"])),
            ("token_endpoint_auth_methods_supported", Self.words(["client_secret_post"])),
            ("claims_supported", Self.words(Self.claims)),
        ])
    }

    private static let claims = [
        "aud", "email", "email_verified", "exp", "iat", "is_private_email", "iss", "nonce", "nonce_supported",
        "real_user_status", "sub", "transfer_sub",
    ]

    private static func words(_ words: [String]) -> JSONValue { .array(words.map { .string($0) }) }
}
