import AppleAccounts
import Testing

@testable import AuthorizationServer

@Suite struct ClientAuthenticationTests {
    private func credentials(_ body: String, authorization: String? = nil) throws -> ClientCredentials {
        let reader = ParameterReader(try FormParameters(parsing: body.utf8, as: .form))
        return try ClientCredentials(reader, authorization: authorization)
    }

    private func refusal(_ body: String) throws -> TokenEndpointError {
        let authentication = ClientAuthentication(try OAuthSettings.sample().clients)
        let credentials = try credentials(body)
        return try #require(throws: TokenEndpointError.self) { try authentication.authenticate(credentials) }
    }

    @Test func `client secret guessing: says the same about a wrong secret and an unknown client`() throws {
        let wrong = try refusal("client_id=shop&client_secret=guess")
        let unknown = try refusal("client_id=stranger&client_secret=guess")
        #expect(wrong.error.code == .invalidClient)
        #expect(wrong.error.explanation == unknown.error.explanation)
        #expect(wrong.status == unknown.status)
    }

    @Test func `client secret guessing: names the client that a guess was about`() throws {
        #expect(try refusal("client_id=shop&client_secret=guess").guessedClient?.rawValue == "shop")
        #expect(try refusal("client_id=stranger&client_secret=guess").guessedClient == nil)
        #expect(try refusal("client_id=shop").guessedClient == nil)
    }

    @Test func `a secret of a client that has none is no guess, and must be left out`() throws {
        let refusal = try refusal("client_id=desktop&client_secret=guess")
        #expect(refusal.error.code == .invalidClient)
        #expect(refusal.error.explanation == "This client has no secret; leave it out.")
        #expect(refusal.guessedClient == nil)
    }

    @Test func `client secret guessing: the secret of a native client is like any other`() throws {
        let draft = OAuthDraft.sample {
            $0.clients = [.nativeSample { $0.secretHashes = [ClientDraft.hash(of: "kept")] }]
        }
        let authentication = ClientAuthentication(try OAuthSettings.sample(draft).clients)
        let credentials = try credentials("client_id=desktop&client_secret=guess")
        let refusal = try #require(throws: TokenEndpointError.self) {
            try authentication.authenticate(credentials)
        }
        #expect(refusal.guessedClient?.rawValue == "desktop")
    }

    @Test func `accepts each of several secrets`() throws {
        let draft = OAuthDraft.sample {
            $0.clients = [
                .sample { $0.secretHashes = [ClientDraft.hash(of: "old"), ClientDraft.hash(of: "new")] }
            ]
        }
        let authentication = ClientAuthentication(try OAuthSettings.sample(draft).clients)
        for secret in ["old", "new"] {
            let client = try authentication.authenticate(
                try credentials("client_id=shop&client_secret=\(secret)"))
            #expect(client.id.rawValue == "shop")
        }
    }

    @Test func `keeps secrets out of descriptions`() throws {
        let credentials = try credentials("client_id=shop&client_secret=hush-hush")
        let secret = OAuthClientSecret(randomBytes: Array(repeating: 7, count: 32))
        var dumped = ""
        dump(credentials, to: &dumped)
        dump(secret, to: &dumped)
        let said =
            "\(credentials)\(String(reflecting: credentials))\(secret)\(String(reflecting: secret))\(dumped)"
        #expect(!said.contains("hush-hush"))
        #expect(!said.contains(secret.text))
    }

    @Test func `makes secrets whose hash the configuration takes`() throws {
        let secret = OAuthClientSecret(randomBytes: Array(0..<32))
        #expect(secret.text == "siwa_cs_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8")
        let hash = try #require(OAuthClientSecretHash(hexadecimal: secret.hash.hexadecimal))
        #expect(hash.matches(secret.text))
        #expect(!hash.matches(secret.text + "A"))
        #expect(OAuthClientSecretHash(hexadecimal: secret.hash.hexadecimal.uppercased()) == hash)
    }
}
