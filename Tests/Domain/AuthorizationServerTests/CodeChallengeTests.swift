import Testing

@testable import AuthorizationServer

@Suite struct CodeChallengeTests {
    // RFC 7636, appendix B.
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    @Test func `computes the example of RFC 7636, appendix B`() throws {
        let verifier = try #require(CodeVerifier(Self.verifier))
        #expect(verifier.s256 == Self.challenge)
        let challenge = try #require(CodeChallenge(Self.challenge, method: .s256))
        #expect(challenge.isAnswered(by: verifier))
        #expect(CodeChallenge.isFulfilled(challenge, by: Self.verifier))
        #expect(CodeChallenge(challenge.stored) == challenge)
    }

    @Test(arguments: [
        nil, "", challenge, String(verifier.dropLast()), verifier + "A", verifier.uppercased(),
        String(repeating: "a", count: 42), String(repeating: "a", count: 129),
        verifier.replacing("-", with: "+"), " " + verifier, verifier + "\u{0}",
    ])
    func `refuses every other verifier`(verifier: String?) throws {
        let challenge = try #require(CodeChallenge(Self.challenge, method: .s256))
        #expect(!CodeChallenge.isFulfilled(challenge, by: verifier))
    }

    @Test func `PKCE downgrade: refuses a verifier where the request had no challenge`() {
        #expect(!CodeChallenge.isFulfilled(nil, by: Self.verifier))
        #expect(CodeChallenge.isFulfilled(nil, by: nil))
    }

    @Test func `PKCE downgrade: refuses plain that was sent as S256`() throws {
        let challenge = try #require(CodeChallenge(Self.verifier, method: .s256))
        #expect(!CodeChallenge.isFulfilled(challenge, by: Self.verifier))
    }

    @Test func `PKCE downgrade: keeps the method of the authorization request`() throws {
        let challenge = try #require(CodeChallenge(Self.challenge, method: .plain))
        #expect(!CodeChallenge.isFulfilled(challenge, by: Self.verifier))
        #expect(CodeChallenge.isFulfilled(challenge, by: Self.challenge))
        #expect(CodeChallenge(challenge.stored).method == .plain)
    }

    @Test(arguments: [43, 128])
    func `takes a plain challenge of any length of a verifier`(count: Int) throws {
        let text = String(repeating: "~", count: count)
        let challenge = try #require(CodeChallenge(text, method: .plain))
        #expect(CodeChallenge.isFulfilled(challenge, by: text))
    }

    @Test(arguments: [
        "", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c", challenge + "=", challenge + "A",
        challenge.replacing("-", with: "+"), challenge.replacing("-", with: "."),
    ])
    func `refuses a text of another form`(text: String) {
        #expect(CodeChallenge(text, method: .s256) == nil)
    }

    @Test func `keeps a verifier out of descriptions`() throws {
        let verifier = try #require(CodeVerifier(Self.verifier))
        var dumped = ""
        dump(verifier, to: &dumped)
        #expect(!"\(verifier)\(String(reflecting: verifier))\(dumped)".contains(Self.verifier))
    }
}

/// `require_pkce: false` of a web client (RFC 9700 §2.1.1).
@Suite struct NonceInPlaceOfProofKeyTests {
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    private func decide(_ query: String, requiresPKCE: Bool? = false) throws -> AuthorizationDecision {
        let draft = OAuthDraft.sample { $0.clients = [.sample { $0.requiresPKCE = requiresPKCE }] }
        let check = AuthorizationRequestCheck(try OAuthSettings.sample(draft))
        let beginning =
            "client_id=shop&redirect_uri=https%3A%2F%2Fshop.example.com%2Fcb&response_type=code&state=s&"
        return check.check((beginning + query).utf8, as: .query, userAgent: nil)
    }

    private func isAccepted(_ decision: AuthorizationDecision) -> Bool {
        switch decision {
        case .proceed: return true
        case .redirect(_, let error):
            #expect(error.code == .invalidRequest)
            return false
        case .page:
            Issue.record("a page")
            return false
        }
    }

    @Test(arguments: ["scope=openid&nonce=n", "nonce=n", "scope=openid%20email&nonce=n"])
    func `a nonce that the ID token repeats takes the place of a challenge`(query: String) throws {
        #expect(isAccepted(try decide(query)))
        #expect(!isAccepted(try decide(query, requiresPKCE: nil)))
        #expect(!isAccepted(try decide(query, requiresPKCE: true)))
    }

    @Test(arguments: [
        "scope=openid", "scope=openid&nonce=", "scope=email&nonce=n", "scope=offline_access%20email&nonce=n",
    ])
    func `code injection: without a nonce in the ID token a challenge is required`(query: String) throws {
        #expect(!isAccepted(try decide(query)))
    }

    @Test(arguments: [
        "code_challenge_method=S256", "code_challenge=short&code_challenge_method=S256",
        "code_challenge=\(challenge)&code_challenge_method=plain", "code_challenge=\(challenge)",
    ])
    func `PKCE downgrade: a challenge that is sent is checked as ever`(query: String) throws {
        #expect(!isAccepted(try decide("scope=openid&nonce=n&\(query)")))
    }

    @Test func `a challenge is kept also where none is required`() throws {
        let query = "scope=openid&code_challenge=\(Self.challenge)&code_challenge_method=S256"
        guard case .proceed(let request) = try decide(query) else {
            Issue.record("not accepted")
            return
        }
        #expect(request.challenge?.text == Self.challenge)
    }
}
