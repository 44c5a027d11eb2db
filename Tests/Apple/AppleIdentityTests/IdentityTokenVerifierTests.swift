import JOSE
import StrictJSON
import Testing
import TokenMint

@testable import AppleIdentity

@Suite struct IdentityTokenVerifierTests {
    private let verifier = IdentityTokenVerifier(policy: VerificationPolicy(clientIDs: [TokenMint.clientID]))

    private func verify(
        _ claims: JSONObject, expecting: IdentityTokenExpectations = IdentityTokenExpectations(),
        at now: NumericDate = .sample
    ) throws -> VerifiedIdentity {
        let token = try UnverifiedToken(TokenMint.shared.sign(claims))
        return try verifier.verify(
            token, with: TokenMint.shared.privateKey.publicKey(), expecting: expecting, at: now)
    }

    private func claims(_ name: String, _ value: JSONValue?) -> JSONObject {
        var claims = TokenMint.identityClaims()
        claims[name] = value
        return claims
    }

    @Test func `returns the claims`() throws {
        var claims = TokenMint.identityClaims()
        claims["nonce"] = .string("n")
        claims["transfer_sub"] = .string("t")
        claims["org_id"] = .string("o")
        claims["auth_time"] = .integer(TokenMint.sampleTime - 3)
        let identity = try verify(claims)
        #expect(identity.issuer == "https://appleid.apple.com")
        #expect(identity.subject == TokenMint.subject)
        #expect(identity.clientID == TokenMint.clientID)
        #expect(identity.issuedAt == .sample)
        #expect(identity.expiresAt == .sample(plus: 86400))
        #expect(identity.authorizationMoment == .sample(plus: -3))
        #expect(identity.email == "q4zjk7x2rt@privaterelay.appleid.com")
        #expect(identity.emailVerified == true)
        #expect(identity.isPrivateEmail == true)
        #expect(identity.realUserStatus == 2)
        #expect(identity.nonce == "n")
        #expect(identity.transferSubject == "t")
        #expect(identity.organizationID == "o")
    }

    @Test func `uses iat as the authorization time when there is no auth_time`() throws {
        #expect(try verify(claims("auth_time", nil)).authorizationMoment == .sample)
    }

    @Test(arguments: ["email_verified", "is_private_email"], [("true", true), ("false", false)])
    func `reads the booleans that Apple sent as strings`(name: String, flag: (String, Bool)) throws {
        let identity = try verify(claims(name, .string(flag.0)))
        #expect((name == "email_verified" ? identity.emailVerified : identity.isPrivateEmail) == flag.1)
    }

    @Test(arguments: ["iss", "aud", "exp", "iat", "sub"])
    func `refuses a token without a claim that Apple always sends`(name: String) {
        #expect(throws: AppleTokenError(.claimMissing)) { try verify(claims(name, nil)) }
    }

    @Test(
        arguments: [
            ("iss", .integer(1)), ("sub", .null), ("sub", .array([.string("a")])), ("aud", .integer(1)),
            ("exp", .string("1")), ("exp", .number("1.5e9")), ("exp", .integer(-1)),
            ("exp", .integer(253_402_300_800)),
            ("iat", .number("1e300")), ("iat", .integer(.max)), ("iat", .integer(.min)),
            ("auth_time", .bool(true)),
            ("nonce", .integer(1)), ("email_verified", .string("yes")), ("transfer_sub", .integer(1)),
            ("c_hash", .bool(false)),
            ("nonce_supported", .null), ("nbf", .string("1")), ("nbf", .null), ("nbf", .integer(.max)),
        ] as [(String, JSONValue)])
    func `refuses a claim of the wrong type or out of range`(name: String, value: JSONValue) {
        #expect(throws: AppleTokenError(.claimMalformed)) { try verify(claims(name, value)) }
    }

    @Test(
        arguments: [
            ("email", .object(JSONObject())), ("email", .null), ("email", .string("-")),
            ("email", .string("")),
            ("email", .string("a@")), ("email", .string("@b")), ("email", .string("a@b\n")),
            ("is_private_email", .integer(1)), ("is_private_email", .string("maybe")),
            ("real_user_status", .string("2")), ("real_user_status", .number("1.5")), ("org_id", .integer(7)),
        ] as [(String, JSONValue)])
    func `drops a claim that decides nothing, and names it`(name: String, value: JSONValue) throws {
        let identity = try verify(claims(name, value))
        #expect(identity.dropped.names == [name])
        #expect(identity.subject == TokenMint.subject)
        #expect(name != "email" || identity.email == nil)
        #expect(name != "real_user_status" || identity.realUserStatus == nil)
    }

    @Test func `drops nothing of a good token, and refuses what decides beside what informs`() throws {
        #expect(try verify(TokenMint.identityClaims()).dropped.names.isEmpty)
        var claims = TokenMint.identityClaims()
        claims["real_user_status"] = .string("2")
        claims["email_verified"] = .string("yes")
        #expect(throws: AppleTokenError(.claimMalformed)) { try verify(claims) }
    }

    @Test func `refuses a token before its nbf`() throws {
        _ = try verify(claims("nbf", .integer(TokenMint.sampleTime + 60)))
        #expect(throws: AppleTokenError(.tokenNotYetValid)) {
            try verify(claims("nbf", .integer(TokenMint.sampleTime + 61)))
        }
    }

    @Test(arguments: [.string("{}"), .object(JSONObject()), .null] as [JSONValue])
    func `never accepts a notification as an identity token`(events: JSONValue) {
        #expect(throws: AppleTokenError(.notAnIdentityToken)) { try verify(claims("events", events)) }
    }

    @Test func `reports the first step that fails, in the order of verification`() throws {
        var claims = TokenMint.identityClaims(at: 0)
        claims["nbf"] = .integer(TokenMint.sampleTime + 61)
        claims["iss"] = .string("https://evil.example")
        claims["aud"] = .string("com.other")
        claims["sub"] = .string("")
        let expecting = IdentityTokenExpectations(nonce: "n", authorizationCode: "c", accessToken: "a")
        var codes: [AppleTokenError.Code] = []
        let repairs: [(String, JSONValue)] = [
            ("nbf", .integer(0)), ("iss", .string("https://appleid.apple.com")),
            ("aud", .string(TokenMint.clientID)),
            ("exp", .integer(TokenMint.sampleTime)), ("sub", .string("s")), ("nonce", .string("n")),
            ("c_hash", .string("Lh0rShvH1ufmvh4wbi0RlA")), ("at_hash", .string("")),
        ]
        for (name, value) in repairs {
            do throws(any Error) {
                _ = try verify(claims, expecting: expecting)
            } catch let error as AppleTokenError {
                codes.append(error.code)
            }
            claims[name] = value
        }
        #expect(
            codes == [
                .tokenNotYetValid, .issuerMismatch, .audienceMismatch, .tokenExpired, .subjectInvalid,
                .nonceMissing, .codeHashMissing, .codeHashMismatch,
            ])
    }

    @Test func `refuses the signature of another key before it reads the payload`() throws {
        let stranger = TokenMint(keyID: TokenMint.shared.keyID)
        let token = try UnverifiedToken(stranger.sign(JSONObject([("iss", .integer(1))])))
        #expect(throws: AppleTokenError(.signatureInvalid)) {
            try verifier.verify(
                token, with: TokenMint.shared.privateKey.publicKey(), expecting: IdentityTokenExpectations(),
                at: .sample)
        }
    }

    @Test func `checks the size of a token before it parses it`() throws {
        let limit = UnverifiedToken.longestToken
        #expect(throws: AppleTokenError(.tokenTooLarge)) {
            try UnverifiedToken(String(repeating: "a", count: limit + 1))
        }
        #expect(throws: AppleTokenError(.tokenMalformed)) {
            try UnverifiedToken(String(repeating: "a", count: limit))
        }
    }
}

extension IdentityTokenClaims {
    /// Passes every check at `NumericDate.sample`; a test changes only the claim that it is about.
    static func sample(_ change: (inout IdentityTokenClaims) -> Void = { _ in }) -> IdentityTokenClaims {
        var claims = IdentityTokenClaims(
            issuer: "https://appleid.apple.com", subject: TokenMint.subject,
            audience: .one(TokenMint.clientID),
            expiresAt: .sample(plus: 86400), issuedAt: .sample, authenticatedAt: .sample)
        change(&claims)
        return claims
    }
}

extension NumericDate {
    static let sample = NumericDate(clampingSecondsSince1970: TokenMint.sampleTime)

    static func sample(plus seconds: Int64) -> NumericDate {
        NumericDate(clampingSecondsSince1970: TokenMint.sampleTime + seconds)
    }
}
