import AppleAccounts
import Cryptography
import Encodings
import Foundation
import JOSE
import StrictJSON
import Testing
import TokenMint

@testable import OAuthFixtures

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
        let half =
            Base64URL.encode(Array(SHA256Digest.hash(accessToken).bytes.prefix(16)))
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
