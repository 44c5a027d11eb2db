import AppleAccounts
import AuthorizationServer
import Commits
import HTTPEngine
import NIOHTTP1
import OAuth
import StrictJSON

/// Public documents about this authorization server, such as its metadata and app links. They contain no
/// secrets.
final class OAuthDocumentRoutes: Sendable {
    private let server: OAuthServer
    private let metadataDocument: [UInt8]
    private let appLinks: [AppLinkPattern]

    init(server: OAuthServer) {
        self.server = server
        metadataDocument = ServerMetadata(settings: server.dependencies.settings).json(
            reservingCapacity: 2048)
        appLinks = server.dependencies.settings.clients.clients.filter(\.hasAppFlip)
            .flatMap { $0.googleLinking?.linkPaths ?? [] }.map { AppLinkPattern($0) }
    }

    /// Handles `GET /.well-known/oauth-authorization-server` (RFC 8414) and
    /// `/.well-known/openid-configuration` (OpenID Connect Discovery §4).
    func metadata() -> Step<HTTPResponse> { .now(.publicDocument(metadataDocument)) }

    /// Handles `GET /.well-known/risc-configuration`, where Google finds the keys for security event tokens.
    func riscConfiguration() -> Step<HTTPResponse> {
        let configuration = RISCConfiguration(issuer: server.dependencies.settings.issuer)
        return .now(.publicDocument(configuration.json()))
    }

    /// Handles `GET /.well-known/apple-app-site-association`: returns the apps that open universal links on
    /// this host.
    func appSiteAssociation() throws -> Step<HTTPResponse> {
        let dependencies = server.dependencies
        let links = AppSiteLinks(
            of: dependencies.settings.clients, in: dependencies.deployment,
            issuer: dependencies.settings.issuer)
        guard !links.isEmpty else { throw Problem(.notFound) }
        return .now(.publicDocument(links.json()))
    }

    /// Handles `GET /.well-known/assetlinks.json`: returns the Android apps that open links on this host.
    func assetLinks() throws -> Step<HTTPResponse> {
        let links = AssetLinks(of: server.dependencies.settings.clients)
        guard !links.isEmpty else { throw Problem(.notFound) }
        return .now(.publicDocument(links.statements.json()))
    }

    /// Returns `true` for a path that Google uses to open the app. A browser requests it only if the app is
    /// not installed.
    func isAppLink(_ path: Substring) -> Bool { appLinks.contains { $0.matches(path) } }
}

/// The authorization server metadata (RFC 8414 §2, OpenID Connect Discovery §3, RFC 9207 §3).
struct ServerMetadata: JSONBody {
    static var schemaName: String { "AuthorizationServerMetadata" }
    static var schemaText: String { "Metadata of RFC 8414 §2 and OpenID Connect Discovery 1.0 §3." }
    let settings: OAuthSettings

    private var clients: [OAuthClient] { settings.clients.clients }
    private func url(_ endpoint: Endpoint) -> String { settings.issuer.url(endpoint.path.description) }

    private static let secrets = ["client_secret_basic", "client_secret_post"]
    private static let claims = [
        "iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "email", "email_verified",
        "is_private_email", "name", "given_name", "family_name",
    ]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("issuer", "The `iss` of tokens and of authorization responses.") { $0.settings.issuer.text }
        member("authorization_endpoint", "RFC 6749 §3.1.") { $0.url(.authorize) }
        member("token_endpoint", "RFC 6749 §3.2.") { $0.url(.issueTokens) }
        member.unrequired("revocation_endpoint", "RFC 7009.") { $0.url(.revokeToken) }
        member.unrequired("introspection_endpoint", "RFC 7662.") { $0.url(.introspectToken) }
        member.unrequired("userinfo_endpoint", "OpenID Connect Core §5.3.") { $0.url(.getUserInfo) }
        member.unrequired("end_session_endpoint", "OpenID Connect RP-Initiated Logout 1.0.") {
            $0.url(.endSession)
        }
        member("jwks_uri", "The JWK Set with the keys that sign tokens.") { $0.url(.getKeySet) }
        member.unrequired(
            "account_connections_uri",
            "The user's page about the clients that have access. A member of this service, in no standard."
        ) { $0.url(.showConnections) }
        member.unrequired("scopes_supported", "All configured scopes.") {
            $0.settings.scopes.scopes.map(\.token.rawValue)
        }
        member("response_types_supported", "`code`") { _ in ["code"] }
        member.unrequired("response_modes_supported", "`query`") { _ in ["query"] }
        member.unrequired("grant_types_supported", "The grant types that a configured client can use.") {
            metadata in
            GrantType.all.filter { $0.isOffered(to: metadata.clients) }.map(\.name)
        }
        member.unrequired("code_challenge_methods_supported", "`S256`; also `plain` when a client allows it.")
        { $0.clients.contains(where: \.allowsPlainProofKeys) ? ["S256", "plain"] : ["S256"] }
        member.unrequired(
            "token_endpoint_auth_methods_supported", "Client authentication at the token endpoint."
        ) { _ in secrets + ["none"] }
        member.unrequired(
            "revocation_endpoint_auth_methods_supported", "Client authentication at the revocation endpoint."
        ) { _ in secrets + ["none"] }
        // `Bearer` stands for an API key. RFC 8414 §2 allows names from the registry "OAuth Access Token
        // Types", which contains `Bearer`.
        member.unrequired(
            "introspection_endpoint_auth_methods_supported",
            "Authentication at the introspection endpoint; `Bearer` is an API key."
        ) { _ in secrets + ["Bearer"] }
        member.unrequired(
            "authorization_response_iss_parameter_supported", "Authorization responses have `iss` (RFC 9207)."
        ) { _ in true }
        member.unrequired("subject_types_supported", "`public`") { _ in ["public"] }
        member.unrequired("id_token_signing_alg_values_supported", "Algorithms of ID tokens.") {
            Set($0.clients.map(\.idTokenAlgorithm.rawValue)).union(["RS256"]).sorted()
        }
        member.unrequired("claims_supported", "Claims of ID tokens and of userinfo.") { _ in claims }
        member.unrequired("claims_parameter_supported", "Always false.") { _ in false }
        member.unrequired("request_parameter_supported", "Always false.") { _ in false }
        member.unrequired("request_uri_parameter_supported", "Always false.") { _ in false }
        member.unrequired("prompt_values_supported", "Values of `prompt`.") { _ in
            ["none", "login", "consent", "select_account"]
        }
        member.unrequired("ui_locales_supported", "Languages of the pages (BCP 47).") {
            $0.settings.languages.all.map(\.rawValue)
        }
        // A member from RFC 8628 §4, which is absent if no client may use the endpoint.
        member("device_authorization_endpoint", "RFC 8628. Present when a client may use the device grant.") {
            GrantType.deviceCode.isOffered(to: $0.clients) ? $0.url(.authorizeDevice) : nil
        }
        // The name differs from the IETF draft on attestation-based client authentication, because that
        // draft's challenge endpoint has different responses.
        member(
            "app_attest_challenges_endpoint",
            "Challenges of App Attest for apps without a backend. A member of this service, in no standard; present when App Check judges a client."
        ) { $0.clients.contains(where: \.isJudged) ? $0.url(.mintClientChallenge) : nil }
        member("app_attest_keys_endpoint", "The keys of App Attest, in the same way.") {
            $0.clients.contains(where: \.isJudged) ? $0.url(.registerClientKey) : nil
        }
    }
}

/// The public keys that clients and receivers use to verify this service's signatures.
final class KeySetRoutes: Sendable {
    private let keys: SigningKeys

    init(keys: SigningKeys) {
        self.keys = keys
    }

    /// Handles `GET /v1/jwks.json` and `GET /oauth/jwks.json` (RFC 7517 §5). Both return the same set.
    func keySet() -> Step<HTTPResponse> {
        .later { [keys] in
            let set = JWKSet(keys: try await keys.published())
            return .publicDocument(set.json(reservingCapacity: 2048))
        }
    }
}

extension HTTPResponse {
    /// Returns a document that caches may store for an hour, because each new key is published a day before
    /// it first signs.
    static func publicDocument(_ body: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse(status: .ok, contentType: "application/json", body: body)
        response.fields = [("cache-control", "public, max-age=3600")]
        return response
    }
}
