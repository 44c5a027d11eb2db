import StrictJSON
import Testing

@testable import OAuthLogin

@Suite struct ServerMetadataTests {
    private static let issuer = "https://accounts.example.com"

    private static func sample(_ changes: [String: JSONValue?] = [:]) -> [UInt8] {
        var json = JSONObject([
            ("issuer", .string(issuer)), ("authorization_endpoint", .string("\(issuer)/o/oauth2/v2/auth")),
            ("token_endpoint", .string("https://oauth2.example.com/token")),
            ("jwks_uri", .string("https://www.example.com/certs")),
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
        ] {
            #expect(throws: LoginError(.metadataUnusable, "")) { try Self.read([name: .string(url)]) }
        }
    }

    @Test(arguments: ["authorization_endpoint", "token_endpoint"])
    func `refuses metadata without an endpoint`(name: String) {
        #expect(throws: LoginError(.metadataUnusable, "")) { try Self.read([name: nil]) }
    }

    @Test func `refuses a server without S256 or without the code flow`() {
        let plain: JSONValue = .array([.string("plain")])
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
