import AppleAccounts
import AuthorizationServer
import HTTPEngine
import NIOHTTP1
import OAuth
import StrictJSON

/// Public documents about this authorization server: metadata and links. Nothing in them is secret.
final class OAuthDocumentRoutes: Sendable {
    private let server: OAuthServer
    private let metadataDocument: [UInt8]
    private let appLinks: [AppLinkPattern]

    init(server: OAuthServer) {
        self.server = server
        metadataDocument = ServerMetadata.document(of: server.dependencies.settings)
        appLinks = server.dependencies.settings.clients.clients.filter(\.hasAppFlip)
            .flatMap { $0.googleLinking?.linkPaths ?? [] }.map { AppLinkPattern($0) }
    }

    /// `GET /.well-known/oauth-authorization-server` (RFC 8414) and `/.well-known/openid-configuration`
    /// (OpenID Connect Discovery §4)
    func metadata() -> RouteResult { .response(.publicDocument(metadataDocument)) }

    /// `GET /.well-known/risc-configuration`, by which Google finds the keys of security event tokens
    func riscConfiguration() -> RouteResult {
        let issuer = server.dependencies.settings.issuer
        var json = JSONWriter(reservingCapacity: 192)
        json.beginObject()
        json.member("issuer", issuer.text)
        json.member("jwks_uri", issuer.url(Endpoint.getKeySet.path.description))
        json.endObject()
        return .response(.publicDocument(json.bytes))
    }

    /// `GET /.well-known/apple-app-site-association`: the apps that take universal links of this host.
    func appSiteAssociation() throws -> RouteResult {
        let dependencies = server.dependencies
        let links = AppSiteLinks(
            of: dependencies.settings.clients, in: dependencies.deployment,
            issuer: dependencies.settings.issuer)
        guard !links.isEmpty else { throw Problem(.notFound) }
        return .response(.publicDocument(links.document))
    }

    /// `GET /.well-known/assetlinks.json`: the Android apps that take links of this host.
    func assetLinks() throws -> RouteResult {
        let links = AssetLinks(of: server.dependencies.settings.clients)
        guard !links.isEmpty else { throw Problem(.notFound) }
        return .response(.publicDocument(links.document))
    }

    /// Returns `true` if Google opens the app with a path of this kind. A browser gets there when the app is
    /// not installed.
    func isAppLink(_ path: Substring) -> Bool { appLinks.contains { $0.matches(path) } }
}

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

/// The public keys that verify what this service signs.
final class KeySetRoutes: Sendable {
    private let keys: SigningKeys

    init(keys: SigningKeys) {
        self.keys = keys
    }

    /// `GET /v1/jwks.json` and `GET /oauth/jwks.json` (RFC 7517 §5): the same set at both.
    func keySet() -> RouteResult {
        .later { [keys] in
            var json = JSONWriter(reservingCapacity: 2048)
            json.beginObject()
            json.name("keys")
            json.beginArray()
            for key in try await keys.published() {
                json.element()
                json.value(.object(key))
            }
            json.endArray()
            json.endObject()
            return .publicDocument(json.bytes)
        }
    }
}

extension HTTPResponse {
    /// Returns a document that caches may keep for an hour. A key is published a day before it signs.
    static func publicDocument(_ body: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse(status: .ok, contentType: "application/json", body: body)
        response.fields = [("cache-control", "public, max-age=3600")]
        return response
    }
}
