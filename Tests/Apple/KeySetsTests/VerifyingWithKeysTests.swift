import AppleIdentity
import Encodings
import KeySets
import Testing
import TokenMint

@Suite struct VerifyingWithKeysTests {
    private let policy = VerificationPolicy(clientIDs: [TokenMint.clientID])
    private let now = NumericDate(clampingSecondsSince1970: TokenMint.sampleTime)

    @Test func `verifies an identity token`() async throws {
        let keys = try PinnedKeySet(parsing: TokenMint.shared.keySet)
        let token = try TokenMint.shared.sign(TokenMint.identityClaims())
        let identity = try await IdentityTokenVerifier(policy: policy).verify(
            token, keys: keys, expecting: IdentityTokenExpectations(), at: now)
        #expect(identity.subject == TokenMint.subject)
    }

    @Test func `verifies a notification`() async throws {
        let keys = try PinnedKeySet(parsing: TokenMint.shared.keySet)
        let payload = try TokenMint.shared.sign(TokenMint.notificationClaims())
        let notification = try await NotificationVerifier(policy: policy).verify(payload, keys: keys, at: now)
        #expect(notification.events.count == 1)
    }

    @Test func `passes the expectations to the verifier`() async throws {
        let keys = try PinnedKeySet(parsing: TokenMint.shared.keySet)
        let token = try TokenMint.shared.sign(TokenMint.identityClaims())
        await #expect(throws: AppleTokenError(.nonceMissing)) {
            try await IdentityTokenVerifier(policy: policy).verify(
                token, keys: keys, expecting: IdentityTokenExpectations(nonce: "n"), at: now)
        }
    }

    @Test func `refuses a token whose key Apple does not have`() async throws {
        let keys = try PinnedKeySet(parsing: SampleKeySet.body(["OTHER"]))
        let token = try TokenMint.shared.sign(TokenMint.identityClaims())
        await #expect(throws: AppleTokenError(.unknownKey)) {
            try await IdentityTokenVerifier(policy: policy).verify(
                token, keys: keys, expecting: IdentityTokenExpectations(), at: now)
        }
        await #expect(throws: AppleTokenError(.unknownKey)) {
            try await NotificationVerifier(policy: policy).verify(token, keys: keys, at: now)
        }
    }

    @Test func `throws keysUnavailable when the keys cannot be fetched`() async throws {
        let keys = RemoteKeySet(source: StubSource { _ in throw KeySetFetchError(.unreachable) })
        let token = try TokenMint.shared.sign(TokenMint.identityClaims())
        await #expect(throws: KeySetError(.keysUnavailable)) {
            try await IdentityTokenVerifier(policy: policy).verify(
                token, keys: keys, expecting: IdentityTokenExpectations(), at: now)
        }
    }

    @Test(arguments: [
        "", "x", "..", "a.b.c", "e30.e30.e30", String(repeating: "a", count: 20_000),
        // {"alg":"none","kid":"K"}, {"alg":"HS256","kid":"K"}, {"alg":"RS256"}, a kid of 65 characters
        "eyJhbGciOiJub25lIiwia2lkIjoiSyJ9.e30.AA", "eyJhbGciOiJIUzI1NiIsImtpZCI6IksifQ.e30.AA",
        "eyJhbGciOiJSUzI1NiJ9.e30.AA",
        Base64URL.encode(
            Array(#"{"alg":"RS256","kid":"\#(String(repeating: "k", count: 65))"}"#.utf8)) + ".e30.AA",
    ])
    func `garbage never causes a fetch`(token: String) async {
        let source = StubSource(SampleKeySet.response(["A"]))
        let keys = RemoteKeySet(source: source)
        await #expect(throws: AppleTokenError.self) {
            try await IdentityTokenVerifier(policy: policy).verify(
                token, keys: keys, expecting: IdentityTokenExpectations(), at: now)
        }
        await #expect(throws: AppleTokenError.self) {
            try await NotificationVerifier(policy: policy).verify(token, keys: keys, at: now)
        }
        #expect(source.fetchCount == 0)
    }
}
