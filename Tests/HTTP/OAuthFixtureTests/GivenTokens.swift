import AppleAccounts
import AuthorizationServer
import Commits
import Cryptography
import Encodings
import OAuth
import TestSupport
import Testing

@testable import OAuthFixtures

/// The state that `given` of a token case describes.
struct GivenTokens {
    /// Value in the body.
    var value = ""
    /// The nonce in the body of a token exchange.
    var nonce: String?
    var user: PlayedUser?
    var account: String?
    /// All issued tokens so far.
    var tokens: [String] = []
    /// The newest ID token.
    var idToken: String?
    /// A valid request of the given client that redeems the code; `nil` when no request is valid.
    var redemption: [String: String]?
    /// Request of the client that uses the newest refresh token.
    var refreshing: [String: String]?
}

/// A word that no player knows.
struct UnknownGiven: Error {
    let text: String
}

extension PlayedService {
    /// Prepares the state that a case gives; `nil` for a case that gives none.
    func prepare(_ given: TokenCase.Given?) async throws -> GivenTokens? {
        guard let given else { return nil }
        return try await GivenPlayer(service: self, given: given).prepare()
    }
}

/// Makes the state that a case requires.
struct GivenPlayer {
    let service: PlayedService
    let given: TokenCase.Given

    func prepare() async throws -> GivenTokens {
        var result = GivenTokens()
        let values = [given.code, given.refreshToken, given.assertion, given.identity, given.device]
        #expect(values.count { $0 != nil } == 1)
        if let code = given.code { try await prepareCode(code, &result) }
        if let token = given.refreshToken { try await prepareRefreshToken(token, &result) }
        if let assertion = given.assertion {
            result.value = try await GivenAssertion(service: service, word: assertion).token()
        }
        if let identity = given.identity {
            let signIn = try await GivenNativeSignIn(service: service, word: identity).prepare()
            (result.value, result.nonce) = (signIn.token, signIn.nonce)
        }
        if let device = given.device {
            try await GivenDevice(service: service, given: given, word: device).prepare(&result)
        }
        try await end(&result)
        return result
    }

    // Codes

    private func prepareCode(_ word: String, _ result: inout GivenTokens) async throws {
        guard word != "unknown" else {
            result.value = AuthorizationCodeText(random: SecureRandom.bytes(count: 32)).text
            return
        }
        let code = try await issueCode(&result)
        result.value = code
        switch try AgedWord(word) {
        case .fresh: break
        case .aged("issued", let seconds): service.clock.advance(by: .seconds(seconds))
        case .aged("redeemed", let seconds):
            try await take(try await service.post("/oauth/token", try #require(result.redemption)), &result)
            service.clock.advance(by: .seconds(seconds))
        case .aged(let what, _): throw UnknownGiven(text: what)
        }
    }

    /// Issues a code as the authorization endpoint does. The endpoint would refuse some of these requests
    /// earlier.
    private func issueCode(_ result: inout GivenTokens) async throws -> String {
        let client = try service.deployment.client(try #require(given.client))
        let user = PlayedUser(service: service, app: client.app.rawValue)
        result.user = user
        let account =
            given.credential == "refresh token rejected"
            ? try await user.signInWithRefreshToken() : try await user.signIn()
        result.account = account
        let code = AuthorizationCodeText(random: SecureRandom.bytes(count: 32))
        let challenge = given.codeChallenge.map {
            CodeRecord.StoredChallenge(text: $0, isPlain: given.codeChallengeMethod == "plain")
        }
        #expect((given.codeChallenge == nil) == (given.codeChallengeMethod == nil))
        #expect(["plain", "S256", nil].contains(given.codeChallengeMethod))
        // Of a refresh token it does not matter any more.
        let redirectURI = given.redirectUri ?? "com.example.app:/any"
        #expect(given.redirectUri != nil || given.refreshToken != nil)
        var generator = SystemRandomNumberGenerator()
        _ = try await service.server.dependencies.commits.submit(
            .authorize(
                AuthorizeCommand(
                    accountID: try #require(AccountID(account)),
                    newGrantID: GrantID(UniqueID(at: service.now, using: &generator)),
                    oauthClientID: client.id, clientID: client.app, codeDigest: code.digest,
                    redirectURI: redirectURI, challenge: challenge, scope: try #require(given.scope),
                    nonce: given.nonce, authenticatedAt: service.now, moment: service.now,
                    expiresAt: service.now.advanced(byMilliseconds: client.lifetimes.code * 1000))))
        result.redemption = try redemption(code.text, client, redirectURI)
        return code.text
    }

    private func redemption(
        _ code: String, _ client: OAuthClient, _ redirectURI: String
    ) throws -> [String: String]? {
        var form = credentials(of: client)
        form["grant_type"] = "authorization_code"
        form["code"] = code
        form["redirect_uri"] = redirectURI
        guard let challenge = given.codeChallenge else { return form }
        let verifier = given.codeVerifier ?? ProofKeySample.verifier
        let derived =
            given.codeChallengeMethod == "plain"
            ? verifier : Base64URL.encode(SHA256Digest.hash(verifier).bytes)
        guard derived == challenge else { return nil }
        form["code_verifier"] = verifier
        return form
    }

    private func credentials(of client: OAuthClient) -> [String: String] {
        var form = ["client_id": client.id.rawValue]
        form["client_secret"] = service.deployment.secrets[client.id.rawValue]?.first
        return form
    }

    // Refresh tokens

    private func prepareRefreshToken(_ word: String, _ result: inout GivenTokens) async throws {
        guard word != "unknown" else {
            var generator = SystemRandomNumberGenerator()
            result.value =
                RefreshTokenText(
                    familyID: UniqueID(at: service.now, using: &generator),
                    familySecret: SecureRandom.bytes(count: RefreshTokenText.familySecretSize), generation: 0,
                    secret: SecureRandom.bytes(count: RefreshTokenText.secretSize)
                ).text
            return
        }
        _ = try await issueCode(&result)
        let redeemed = try await service.post("/oauth/token", try #require(result.redemption))
        result.redemption = nil
        let first = try #require(try await take(redeemed, &result))
        result.value = first
        let parts = word.split(separator: ", ").map { String($0) }
        switch (try? AgedWord(parts[0]), parts.dropFirst().first) {
        case (.fresh, nil): break
        case (.aged("rotated", let seconds), "successor unused"):
            try await refresh(&result)
            service.clock.advance(by: .seconds(seconds))
        case (.aged("rotated", let seconds), "successor used"):
            try await refresh(&result)
            try await refresh(&result)
            service.clock.advance(by: .seconds(seconds))
        case (nil, nil): try await prepareRefreshToken(ended: word, first, &result)
        default: throw UnknownGiven(text: word)
        }
    }

    private func prepareRefreshToken(
        ended word: String, _ token: String, _ result: inout GivenTokens
    ) async throws {
        let client = try service.deployment.client(try #require(given.client))
        switch word {
        case "rotated twice":
            try await refresh(&result)
            try await refresh(&result)
        case "revoked":
            let revoked = try await service.post(
                "/oauth/revoke", credentials(of: client).merging(["token": token]) { $1 })
            #expect(revoked.status == 200)
        case "expired":
            let idle = try #require(client.lifetimes.refreshTokenIdle)
            service.clock.advance(by: .seconds(idle + 1))
        case "altered":
            let last = try #require(token.last)
            result.value = String(token.dropLast()) + (last == "A" ? "E" : "A")
            #expect(RefreshTokenText(parsing: result.value) != nil)
        default: throw UnknownGiven(text: word)
        }
    }

    /// Uses the newest refresh token.
    private func refresh(_ result: inout GivenTokens) async throws {
        let response = try await service.post("/oauth/token", try #require(result.refreshing))
        try await take(response, &result)
    }

    /// Keeps the tokens of a response, and returns its refresh token.
    @discardableResult
    private func take(_ response: PlayedResponse, _ result: inout GivenTokens) async throws -> String? {
        try #require(response.status == 200, "\(response.text)")
        let members = try response.object()
        result.tokens.append(try #require(members["access_token"] as? String))
        result.idToken = members["id_token"] as? String
        guard let token = members["refresh_token"] as? String else { return nil }
        let client = try service.deployment.client(try #require(given.client))
        // A rotated token is good for nothing but a retry.
        result.tokens.removeAll { $0.hasPrefix("siwa_rt_") }
        result.tokens.append(token)
        result.refreshing = credentials(of: client).merging([
            "grant_type": "refresh_token", "refresh_token": token,
        ]) { $1 }
        return token
    }

    // What happens to the account

    private func end(_ result: inout GivenTokens) async throws {
        guard given.credential != nil || given.account != nil else { return }
        let user = try #require(result.user)
        let account = try #require(result.account)
        service.clock.advance(by: .seconds(10))
        switch given.credential {
        case nil, "authorized": break
        case "consent revoked": try await user.notify("consent-revoked")
        case "refresh token rejected": try await user.rejectRefreshToken(of: account)
        case let word?: throw UnknownGiven(text: word)
        }
        switch given.account {
        case nil: break
        case "erased": try await user.erase(account)
        case let word?: throw UnknownGiven(text: word)
        }
        service.clock.advance(by: .seconds(1))
    }
}

/// `fresh`, or `issued 601 seconds ago`.
enum AgedWord: Equatable {
    case fresh
    case aged(String, Int64)

    init(_ text: String) throws {
        if text == "fresh" {
            self = .fresh
            return
        }
        let words = text.split(separator: " ")
        guard words.count == 4, let seconds = Int64(words[1]), words[2] == "seconds", words[3] == "ago" else {
            throw UnknownGiven(text: text)
        }
        self = .aged(String(words[0]), seconds)
    }
}
