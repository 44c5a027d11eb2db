import EmulatorServer
import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON

/// Handles `GET /.well-known/openid-configuration`, for clients whose only configuration is Apple's issuer.
struct DiscoveryEndpoint: Sendable {
    let state: EmulatorState

    func add(to router: Router<EmulatorRequestContext>) {
        let faults = FaultInjection(state: state, endpoint: .discovery)
        router.get(".well-known/openid-configuration") { request, context in
            try await faults.respond(to: request, on: context.channel) { _, _ in
                DiscoveryDocument(baseURL: state.baseURL(request, on: context.channel)).response
            }
        }
    }
}

/// OpenID provider metadata with the same members and values as Apple's document (OpenID Connect Discovery
/// 1.0 §3).
///
/// The issuer is Apple's, as in every token. The endpoints have the base URL that the client used to reach
/// the emulator.
struct DiscoveryDocument {
    /// Base URL without a trailing slash.
    let baseURL: String

    var response: EndpointResponse {
        EndpointResponse(
            contentType: EndpointResponse.jsonType, body: JSONValue.object(json).serialized())
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

extension EmulatorState {
    /// Returns the base URL that the client used to reach the emulator. Its host is the request's `Host`,
    /// otherwise the connection's address.
    func baseURL(_ request: Request, on channel: any Channel) -> String {
        let named = request.head.authority.flatMap { Self.isAuthority($0) ? $0 : nil }
        return "\(configuration.scheme)://\(named ?? address(of: channel))"
    }

    private func address(of channel: any Channel) -> String {
        let port = channel.localAddress?.port ?? configuration.port
        return configuration.host.contains(":")
            ? "[\(configuration.host)]:\(port)" : "\(configuration.host):\(port)"
    }

    /// Returns true if the text is a name or address with an optional port, without characters that would end
    /// the host in a URL.
    private static func isAuthority(_ text: String) -> Bool {
        (1...261).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                ControlInput.isUnreserved(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "[")
                    || byte == UInt8(ascii: "]")
            }
    }
}
