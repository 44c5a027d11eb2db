import AppleAccounts
import Cryptography
import Encodings
import StorageConformance
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
    func `refuses a text of another form`(text: String) { #expect(CodeChallenge(text, method: .s256) == nil) }

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

@Suite struct TokenTextTests {
    private let family = UniqueID(high: 0x0193_A5E0_7C00_7ABC, low: 0x8DEF_0123_4567_89AB)

    private func token(generation: UInt32 = 0) -> RefreshTokenText {
        RefreshTokenText(
            familyID: family, familySecret: Array(repeating: 1, count: 16), generation: generation,
            secret: Array(repeating: 2, count: 32))
    }

    @Test(arguments: [0, 1, 258, UInt32.max])
    func `a refresh token says which family and generation it is of`(generation: UInt32) throws {
        let token = token(generation: generation)
        let read = try #require(RefreshTokenText(parsing: token.text))
        #expect(read == token && read.digest == token.digest)
        #expect(read.familyID == family)
        #expect(read.generation == generation)
    }

    @Test func `a successor has the family and its secret, and another text`() throws {
        let token = token(generation: 7)
        let next = try #require(token.successor(salt: Array(repeating: 3, count: 32)))
        #expect(next.generation == 8)
        #expect(next.familySecretDigest == token.familySecretDigest)
        #expect(next.digest != token.digest)
        #expect(self.token(generation: .max).successor(salt: Array(repeating: 3, count: 32)) == nil)
    }

    @Test func `a successor follows from the text and the salt, and from nothing else`() throws {
        let token = token(generation: 7)
        let salt = Array(repeating: 3 as UInt8, count: 32)
        let next = try #require(token.successor(salt: salt))
        #expect(try #require(RefreshTokenText(parsing: token.text)).successor(salt: salt) == next)
        let others = [
            token.successor(salt: Array(repeating: 4, count: 32)),
            self.token(generation: 8).successor(salt: salt), next.successor(salt: salt),
            RefreshTokenText(
                familyID: UniqueID(high: 1, low: 1), familySecret: Array(repeating: 1, count: 16),
                generation: 7, secret: Array(repeating: 2, count: 32)
            ).successor(salt: salt),
        ]
        #expect(Set(others.map { $0?.text.suffix(43) } + [next.text.suffix(43)]).count == 5)
        // HKDF with SHA-256 (RFC 5869), computed apart: the secret is the last 32 of the 68 bytes.
        let bytes = try #require(Base64URL.decode(String(next.text.dropFirst(8))))
        #expect(
            Hexadecimal.encode(Array(bytes.suffix(32)))
                == "d2b8b3e55eb6b84250a4a9745f8bf190504e4871608cb6a8d44d7165b7f395de")
    }

    @Test func `altered texts are no tokens`() {
        let text = token().text
        for altered in [
            String(text.dropLast()), text + "A", text.replacing("siwa_rt_", with: "siwa_ac_"), text + "=",
            " " + text, String(text.dropLast()) + "é",
        ] { #expect(RefreshTokenText(parsing: altered) == nil) }
    }

    @Test func `the double hash hashes the 64 raw bytes of the first`() {
        let token = token()
        #expect(token.doubleSHA512 == SHA512Digest.hash(SHA512Digest.hash(Array(token.text.utf8)).bytes))
        #expect(token.doubleSHA512.bytes.count == 64)
        // FIPS 180-4, the example of "abc".
        let abc = Hexadecimal.encode(SHA512Digest.hash(Array("abc".utf8)).bytes)
        #expect(abc.hasPrefix("ddaf35a193617abacc417349ae204131"))
    }

    @Test func `a code is read as it was written, and nothing else is one`() throws {
        let code = AuthorizationCodeText(random: Array(repeating: 5, count: 32))
        #expect(try #require(AuthorizationCodeText(parsing: code.text)).digest == code.digest)
        for text in ["", "siwa_ac_", code.text + "A", String(code.text.dropLast()), token().text] {
            #expect(AuthorizationCodeText(parsing: text) == nil)
        }
    }

    @Test func `descriptions have no secret in them`() {
        let code = AuthorizationCodeText(random: Array(repeating: 5, count: 32))
        #expect(!"\(code)".contains(code.text))
        #expect(!"\(token())".contains(token().text))
        let command = RefreshCommand.sample()
        var dumped = ""
        dump(command, to: &dumped)
        #expect(!"\(command)\(dumped)".contains(command.presented.text))
    }
}
