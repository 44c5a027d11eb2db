import AppleAccounts
import Cryptography
import Encodings
import Foundation
import JOSE
import StrictJSON
import TestSupport
import Testing

@testable import OAuthFixtures

/// Plays a request to `/oauth/token`: the given state, the request, its response, and the codes and tokens
/// afterwards.
struct TokenPlayer {
    let service: PlayedService
    let content: TokenCase

    func play() async throws {
        let expect = content.expect
        let given = try await service.prepare(content.given)
        let response = try await send(given)
        let status = try #require(expect.status)
        #expect(response.status == status, "\(response.text)")
        response.expectNoStore()
        try await expectReason()
        #expect(response["pragma"] == "no-cache")
        let challenge = response["www-authenticate"]
        #expect(challenge?.hasPrefix("Basic realm=") ?? false == expect.wwwAuthenticate ?? false)
        #expect((challenge == nil) == (expect.wwwAuthenticate == nil))
        let members = try response.object()
        #expect([expect.error, expect.scope].count { $0 != nil } + (expect.linking == nil ? 0 : 1) == 1)
        if let error = expect.error { expectError(members, error) }
        if let linking = expect.linking { #expect(members as? [String: String] == linking) }
        if expect.scope != nil { try await expectTokens(members, given) }
        if var given {
            take(members, &given)
            try await AfterwardsPlayer(service: service, given: given).play(expect.afterwards)
        } else {
            #expect(expect.afterwards == nil)
        }
    }

    private func send(_ given: GivenTokens?) async throws -> PlayedResponse {
        let request = content.request
        var body = request.body
        for name in ["{code}", "{refresh_token}", "{assertion}", "{subject_token}", "{device_code}"] {
            body = body.replacing(name, with: given?.value ?? "x")
        }
        body = body.replacing("{nonce}", with: given?.nonce ?? "siwa-nonce-x")
        var fields: [String: String] = [:]
        fields["Content-Type"] = request.contentType
        fields["Authorization"] = request.authorization
        let query = request.query.map { "?\($0)" } ?? ""
        return try await service.send("POST", "/oauth/token\(query)", fields, body: body)
    }

    /// Checks the reason in the metrics: the response does not have it, because this is no development.
    private func expectReason() async throws {
        let name = "siwa_oauth_token_refusals_total"
        let metrics = try await service.send(
            "GET", "/metrics", ["Authorization": "Bearer \(FixtureDeployment.secret(of: nil))"])
        let counted = metrics.text.components(separatedBy: "\n\(name){").dropFirst()
            .map { $0.prefix { $0 != "\n" } }
            .filter { !$0.hasSuffix(" 0") }
            .map { $0.drop { $0 != "," } }
        #expect(counted == (content.expect.reason.map { [",reason=\"\($0)\"} 1"] } ?? []))
    }

    private func expectError(_ members: [String: any Sendable], _ error: String) {
        #expect(members["error"] as? String == error)
        #expect(Set(members.keys).isSubset(of: ["error", "error_description"]))
        #expect((members["error_description"] as? String).map(isDescription) ?? true)
    }

    private func expectTokens(_ members: [String: any Sendable], _ given: GivenTokens?) async throws {
        let expect = content.expect
        let tokens = try #require(expect.tokens)
        let isExchange = expect.grant?.type == "token-exchange"
        #expect(
            Set(members.keys)
                == Set(
                    tokens + ["token_type", "expires_in", "scope"]
                        + (isExchange ? ["issued_token_type"] : [])))
        // RFC 8693 §2.2.1.
        if isExchange {
            #expect(
                members["issued_token_type"] as? String == "urn:ietf:params:oauth:token-type:access_token")
        }
        #expect(members["token_type"] as? String == "Bearer")
        #expect(members["scope"] as? String == expect.scope)
        let token = try #require(members["access_token"] as? String)
        let check = IssuedTokenCheck(service: service, account: given?.account)
        try await check.expectAccessToken(
            token, expect.accessToken, scope: try #require(expect.scope),
            lifetime: try #require(members["expires_in"] as? Int))
        if let idToken = members["id_token"] as? String {
            try await check.expectIDToken(
                idToken, expect.idToken, nonce: content.given?.nonce, accessToken: token)
        } else {
            #expect(expect.idToken == nil)
        }
        if let refreshToken = members["refresh_token"] as? String {
            #expect(refreshToken != given?.value)
        }
    }

    /// Adds the tokens of the response, which belong to the same token family.
    private func take(_ members: [String: any Sendable], _ given: inout GivenTokens) {
        guard let token = members["access_token"] as? String else { return }
        given.tokens.append(token)
        guard let refreshToken = members["refresh_token"] as? String else { return }
        given.tokens.removeAll { $0.hasPrefix("siwa_rt_") }
        given.tokens.append(refreshToken)
    }
}

/// Checks issued tokens by RFC 9068 and OpenID Connect Core, with the published keys.
struct IssuedTokenCheck {
    let service: PlayedService
    /// Expected account; `nil` when unknown.
    let account: String?

    /// Checks an access token (RFC 9068 §2).
    func expectAccessToken(
        _ text: String, _ expected: TokenCase.AccessToken?, scope: String, lifetime: Int
    ) async throws {
        let token = try ReadToken(text)
        try await expectSignature(token)
        #expect(token.header["typ"] as? String == "at+jwt")
        #expect(Set(token.header.keys) == ["alg", "typ", "kid"])
        let claims = token.claims
        #expect(claims["iss"] as? String == FixtureDeployment.issuer)
        if let account { #expect(claims["sub"] as? String == account) }
        let now = Int(service.now.milliseconds / 1000)
        #expect(claims["iat"] as? Int == now)
        #expect(claims["exp"] as? Int == now + lifetime)
        #expect((claims["auth_time"] as? Int).map { $0 <= now } == true)
        #expect((claims["jti"] as? String)?.isEmpty == false)
        #expect(claims["scope"] as? String == scope)
        guard let expected else { return }
        #expect(token.header["alg"] as? String == expected.alg)
        #expect(claims["aud"] as? String == expected.aud)
        #expect(claims["client_id"] as? String == expected.clientId)
        #expect(lifetime == expected.expiresIn)
        #expect(claims.keys.sorted() == expected.claims)
    }

    /// Checks an ID token (OpenID Connect Core §2 and §3.1.3.6).
    func expectIDToken(
        _ text: String, _ expected: TokenCase.IDToken?, nonce: String?, accessToken: String
    ) async throws {
        let token = try ReadToken(text)
        try await expectSignature(token)
        // RFC 9068 §2.1: no resource server takes it for an access token.
        #expect(token.header["typ"] as? String != "at+jwt")
        let claims = token.claims
        #expect(claims["iss"] as? String == FixtureDeployment.issuer)
        if let account { #expect(claims["sub"] as? String == account) }
        #expect(claims["nonce"] as? String == nonce)
        let half = Base64URL.encode(Array(SHA256Digest.hash(accessToken).bytes.prefix(16)))
        #expect(claims["at_hash"] as? String == half)
        let now = Int(service.now.milliseconds / 1000)
        #expect(claims["iat"] as? Int == now)
        #expect((claims["exp"] as? Int).map { $0 > now } == true)
        guard let expected else { return }
        #expect(token.header["alg"] as? String == expected.alg)
        #expect(claims["aud"] as? String == expected.aud)
        #expect(claims.keys.sorted() == expected.claims)
    }

    private func expectSignature(_ token: ReadToken) async throws {
        let response = try await service.send("GET", "/oauth/jwks.json")
        let set = try JSONValue(parsing: response.body)
        let keyID = try #require(token.header["kid"] as? String)
        let jwk = try #require(set["keys"]?.array?.first { $0["kid"]?.string == keyID })
        let key = try TokenVerificationKey(jwk: jwk)
        #expect(token.header["alg"] as? String == key.algorithm.rawValue)
        #expect(token.isSigned(by: key))
    }
}

/// A JWT, read by Foundation, with the signed bytes.
struct ReadToken {
    let header: [String: any Sendable]
    let claims: [String: any Sendable]
    private let signed: [UInt8]
    private let signature: [UInt8]

    init(_ text: String) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
        try #require(parts.count == 3)
        header = try PlayedResponse.object(Data(try #require(Base64URL.decode(parts[0]))))
        claims = try PlayedResponse.object(Data(try #require(Base64URL.decode(parts[1]))))
        signed = Array("\(parts[0]).\(parts[1])".utf8)
        signature = try #require(Base64URL.decode(parts[2]))
    }

    func isSigned(by key: TokenVerificationKey) -> Bool {
        key.isValidSignature(signature, for: signed[...])
    }
}

/// Finds the effects of a token request on its code and tokens, with requests of a client and an app's
/// backend.
struct AfterwardsPlayer {
    let service: PlayedService
    let given: GivenTokens

    private enum Word: String {
        /// Valid.
        case good
        /// Valid only after the next sign-in.
        case suspended
        /// The code was redeemed.
        case used
        /// Invalid, also after a sign-in.
        case ended
    }

    func play(_ afterwards: TokenCase.Afterwards?) async throws {
        let isSeen = given.redemption != nil || !given.tokens.isEmpty
        guard let afterwards else {
            #expect(!isSeen || given.account == nil, "the file does not say what has become of it")
            return
        }
        #expect((afterwards.tokens == nil) == given.tokens.isEmpty)
        #expect((afterwards.code == nil) == (given.redemption == nil))
        let tokens = try afterwards.tokens.map { try #require(Word(rawValue: $0)) }
        let code = try afterwards.code.map { try #require(Word(rawValue: $0)) }
        // A code is tried last: that can end what it gave.
        if let tokens { try await expectTokens(are: tokens == .good) }
        if let code { try await expectCode(is: code == .good) }
        guard let user = given.user, tokens != .good, code != .good, code != .used else { return }
        service.clock.advance(by: .seconds(10))
        try await user.signIn()
        if let tokens { try await expectTokens(are: tokens == .suspended) }
        if let code { try await expectCode(is: code == .suspended) }
    }

    /// Checks by introspection (RFC 7662) if the tokens are active.
    private func expectTokens(are isGood: Bool) async throws {
        for token in given.tokens {
            let response = try await service.post(
                "/oauth/introspect", ["token": token],
                ["Authorization": "Bearer \(FixtureDeployment.secret(of: nil))"])
            #expect(response.status == 200)
            #expect(try response.object()["active"] as? Bool == isGood, "\(token.prefix(8))")
        }
    }

    /// Checks the code with a valid request: other requests do not show the state of a code.
    private func expectCode(is isGood: Bool) async throws {
        let response = try await service.post("/oauth/token", try #require(given.redemption))
        #expect(response.status == (isGood ? 200 : 400), "\(response.text)")
        if !isGood { #expect(try response.object()["error"] as? String == "invalid_grant") }
    }
}
