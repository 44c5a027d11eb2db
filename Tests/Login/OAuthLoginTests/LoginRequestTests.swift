import Encodings
import StrictJSON
import Testing

@testable import OAuthLogin

/// The requests: the authorization request and the client's authentication.
@Suite struct LoginRequestTests {
    /// Uses the example of RFC 7636, appendix B.
    @Test func `makes the challenge of the standard's example`() {
        let secrets = LoginSecrets(
            state: "s", nonce: "n", verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(secrets.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test func `verifier, state and nonce are new each time and have 256 bits`() {
        let (one, two) = (LoginSecrets(), LoginSecrets())
        #expect(Set([one.state, one.nonce, one.verifier, two.state, two.nonce, two.verifier]).count == 6)
        #expect(Base64URL.decode(one.verifier)?.count == 32)
    }

    private static func url(_ endpoint: String, scope: [String]) throws -> String {
        AuthorizationURL(
            endpoint: endpoint, clientID: "a&b=c d", redirectURI: "http://127.0.0.1:9004",
            scope: try RequestedScope(scope), secrets: LoginSecrets(state: "s", nonce: "n", verifier: "v")
        ).text
    }

    @Test func `escapes every value, and keeps a query of the endpoint`() throws {
        let url = try Self.url("https://a.example/auth?tenant=1", scope: ["openid", "email profile"])
        #expect(
            url.hasPrefix(
                "https://a.example/auth?tenant=1&response_type=code&client_id=a%26b%3Dc%20d"
                    + "&redirect_uri=http%3A%2F%2F127.0.0.1%3A9004&scope=openid%20email%20profile&state=s&nonce=n&"
            ))
    }

    @Test func `sends a nonce only where there can be an ID token`() throws {
        #expect(try Self.url("https://a.example", scope: []).contains("nonce=n"))
        #expect(try !Self.url("https://a.example", scope: []).contains("scope="))
        #expect(try !Self.url("https://a.example", scope: ["email"]).contains("nonce="))
    }

    @Test(arguments: ["a\"b", "a\\b", "ä", "a\nb"]) func `refuses scopes outside the grammar`(scope: String) {
        #expect(throws: LoginError(.optionMalformed, "")) { try RequestedScope([scope]) }
    }

    private static func server(_ methods: [String]?) throws -> ServerMetadata {
        var json = JSONObject([
            ("issuer", "https://a.example"),
            ("authorization_endpoint", "https://a.example/a"),
            ("token_endpoint", "https://a.example/t"),
        ])
        json["token_endpoint_auth_methods_supported"] = methods.map { .array($0.map { .string($0) }) }
        return try ServerMetadata(
            parsing: JSONValue.object(json).serialized(), of: try IssuerURL("https://a.example"))
    }

    @Test func `a secret goes into the body or into the header, never into both`() throws {
        let client = try ClientCredentials(id: "id:1", secret: "s+1")
        let body = client.authenticate([], at: "u", of: try Self.server(["client_secret_post"]))
        #expect(body.body == "client_id=id%3A1&client_secret=s%2B1")
        #expect(body.authorization == nil)
        for methods in [nil, ["client_secret_basic"]] {
            let header = client.authenticate([], at: "u", of: try Self.server(methods))
            #expect(header.body.isEmpty)
            #expect(header.authorization == "Basic \(Base64.encode(Array("id%3A1:s%2B1".utf8)))")
        }
        let publicClient = try ClientCredentials(id: "id")
        #expect(try publicClient.authenticate([], at: "u", of: Self.server(nil)).body == "client_id=id")
    }

    @Test func `a client does not show its secret`() throws {
        let client = try ClientCredentials(id: "id", secret: "hidden-secret")
        var dumped = ""
        dump(client, to: &dumped)
        #expect(!"\(client) \(String(reflecting: client)) \(dumped)".contains("hidden-secret"))
    }
}

@Suite struct ServerMetadataTests {
    private static let issuer = "https://accounts.example.com"

    private static func sample(_ changes: [String: JSONValue?] = [:]) -> [UInt8] {
        var json = JSONObject([
            ("issuer", .string(issuer)), ("authorization_endpoint", .string("\(issuer)/o/oauth2/v2/auth")),
            ("token_endpoint", "https://oauth2.example.com/token"),
            ("jwks_uri", "https://www.example.com/certs"),
        ])
        for (name, value) in changes { json[name] = value }
        return JSONValue.object(json).serialized()
    }

    private static func read(_ changes: [String: JSONValue?]) throws -> ServerMetadata {
        try ServerMetadata(parsing: sample(changes), of: try IssuerURL(issuer))
    }

    @Test func `endpoints may be on other hosts, as Google's are`() throws {
        let metadata = try Self.read([:])
        #expect(metadata.tokenEndpoint == "https://oauth2.example.com/token")
        #expect(metadata.revocationEndpoint == nil)
        #expect(!metadata.promisesIssuer)
    }

    @Test(arguments: [
        "https://accounts.example.com/", "https://Accounts.example.com", "http://accounts.example.com",
        "https://accounts.example.com.evil.example", "",
    ])
    func `refuses an issuer that differs in one byte`(issuer: String) {
        #expect(throws: LoginError(.issuerMismatch, "")) { try Self.read(["issuer": .string(issuer)]) }
    }

    @Test(arguments: ["authorization_endpoint", "token_endpoint", "revocation_endpoint", "jwks_uri"])
    func `refuses endpoints to which no secret may be sent`(name: String) {
        for url in [
            "http://accounts.example.com/x", "http://127.0.0.1/x", "ftp://accounts.example.com", "/token",
            "https://a@b.example/x", "https://accounts.example.com/#x", "javascript:alert(1)",
        ] { #expect(throws: LoginError(.metadataUnusable, "")) { try Self.read([name: .string(url)]) } }
    }

    @Test(arguments: ["authorization_endpoint", "token_endpoint"])
    func `refuses metadata without an endpoint`(name: String) {
        #expect(throws: LoginError(.metadataUnusable, "")) { try Self.read([name: nil]) }
    }

    @Test func `refuses a server without S256 or without the code flow`() {
        let plain: JSONValue = .array(["plain"])
        for name in ["code_challenge_methods_supported", "response_types_supported"] {
            #expect(throws: LoginError(.serverUnsuitable, "")) { try Self.read([name: plain]) }
        }
    }

    @Test(arguments: ["", "[]", "<!DOCTYPE html>", #"{"issuer":"#])
    func `refuses what is no JSON object`(body: String) throws {
        let issuer = try IssuerURL(Self.issuer)
        #expect(throws: LoginError.self) { try ServerMetadata(parsing: Array(body.utf8), of: issuer) }
    }

    @Test func `looks for the metadata at both places, also with a path`() throws {
        #expect(
            try IssuerURL("https://a.example").metadataURLs == [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration",
            ])
        #expect(
            try IssuerURL("https://a.example:8443/tenant/").metadataURLs == [
                "https://a.example:8443/.well-known/oauth-authorization-server/tenant",
                "https://a.example:8443/tenant/.well-known/openid-configuration",
            ])
    }

    @Test(arguments: [
        "http://a.example", "https://a.example?x=1", "https://a.example#x", "a.example", "",
        "http://127.0.0.1.evil.example", "https://a b.example", "http://[::2]:80",
    ])
    func `refuses issuers that are no https URL`(text: String) {
        #expect(throws: LoginError(.optionMalformed, "")) { try IssuerURL(text) }
    }

    @Test(arguments: ["http://127.0.0.1:8080", "http://[::1]:8080", "http://localhost:8080"])
    func `allows http on this machine`(text: String) throws {
        #expect(try IssuerURL(text).isLocal)
    }
}
