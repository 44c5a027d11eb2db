import AppleAccounts
import Encodings
import Testing

@testable import AuthorizationServer
@testable import OAuthFixtures

@Suite struct AuthorizationCaseTests {
    @Test(arguments: try OAuthFixture<AuthorizationCase>.all(in: "authorization"))
    func `decides about an authorization request as its file says`(
        file: OAuthFixture<AuthorizationCase>
    ) throws {
        let (request, expect) = (file.content.request, file.content.expect)
        let check = AuthorizationRequestCheck(try FixtureConfiguration.settings())
        let decision =
            switch request.method {
            case "POST": check.check((request.form ?? "").utf8, as: .form, userAgent: request.userAgent)
            default: check.check((request.query ?? "").utf8, as: .query, userAgent: request.userAgent)
            }
        switch decision {
        case .page(let error):
            let page = try #require(expect.page, "\(error.error)")
            #expect(error.error.code.rawValue == page.error)
            #expect(error.status == page.status)
            #expect(isDescription(error.error.explanation))
        case .redirect(let response, let error):
            let redirect = try #require(expect.redirect, "\(error)")
            try compare(response.location(error: error), error, with: redirect)
        case .proceed(let accepted):
            let proceed = try #require(expect.proceed)
            #expect(AuthorizationCase.Proceed(accepted, acceptLanguage: request.acceptLanguage) == proceed)
            try compareCode(accepted, with: proceed)
        }
    }

    private func compare(
        _ location: String, _ error: OAuthError, with expected: AuthorizationCase.Redirect
    ) throws {
        let parameters = try Location(location, of: expected.uri).parameters
        #expect(parameters["error"] == expected.error)
        #expect(parameters["state"] == expected.state)
        #expect(parameters["iss"] == expected.iss.map { QueryText.encode($0) })
        #expect(parameters["code"] == nil)
        #expect(isDescription(error.explanation))
        #expect(parameters["error_description"] == QueryText.encode(error.explanation))
    }

    private func compareCode(
        _ request: AuthorizationRequest, with expected: AuthorizationCase.Proceed
    ) throws {
        let location = request.response.location(code: "siwa_ac_x-Y_z")
        let parameters = try Location(location, of: expected.redirectUri).parameters
        #expect(parameters["code"] == "siwa_ac_x-Y_z")
        #expect(parameters["state"] == expected.state)
        #expect(parameters["iss"] == "https%3A%2F%2Faccounts.example.com")
        #expect(parameters.count == (expected.state == nil ? 2 : 3))
    }
}

extension AuthorizationCase.Proceed {
    init(_ request: AuthorizationRequest, acceptLanguage: String?) {
        self.init(
            client: request.client.id.rawValue, redirectUri: request.target.text, scope: request.scopes.text,
            state: request.response.state?.encoded, codeChallenge: request.challenge?.text,
            codeChallengeMethod: request.challenge?.method.rawValue, nonce: request.nonce,
            loginHint: request.loginHint,
            prompt: request.prompts.isEmpty ? nil : request.prompts.map(\.rawValue).sorted(),
            maxAge: request.maxAge,
            language: request.languages.language(among: .builtIn, acceptLanguage: acceptLanguage).rawValue)
    }
}

@Suite struct TokenCaseTests {
    @Test(arguments: try OAuthFixture<TokenCase>.all(in: "token"))
    func `decides about a token request as its file says`(file: OAuthFixture<TokenCase>) throws {
        let (request, expect) = (file.content.request, file.content.expect)
        let clients = try FixtureConfiguration.settings().clients
        let body = request.body.replacing("{code}", with: "siwa_ac_x")
            .replacing("{refresh_token}", with: "siwa_rt_x").replacing("{assertion}", with: "e30.e30.e30")
            .replacing("{subject_token}", with: "e30.e30.e30").replacing("{nonce}", with: "siwa-nonce-x")
            .replacing("{device_code}", with: "siwa_dc_x")
        do throws(TokenEndpointError) {
            let read = try UnauthenticatedTokenRequest(
                body: body.utf8, contentType: request.contentType, authorization: request.authorization,
                query: request.query?.utf8)
            let accepted = try read.authenticated(in: clients)
            #expect(TokenCase.Grant(accepted) == expect.grant, "\(file.content.summary)")
            #expect(file.content.given != nil, "what becomes of it depends on what is given")
        } catch {
            #expect(expect.grant == nil, "\(error.error)")
            #expect(error.error.code.rawValue == expect.error, "\(error.error)")
            #expect(error.error.reason?.rawValue == expect.reason)
            #expect(error.status == expect.status)
            #expect((error.challenge != nil) == (expect.wwwAuthenticate ?? false))
            #expect(isDescription(error.error.explanation))
        }
    }

    @Test func `has a case for every error of the token endpoint`() throws {
        let errors = Set(try OAuthFixture<TokenCase>.all(in: "token").compactMap(\.content.expect.error))
        #expect(
            errors == [
                "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client",
                "unsupported_grant_type", "invalid_scope", "invalid_target", "temporarily_unavailable",
                "authorization_pending", "slow_down", "expired_token", "access_denied",
            ])
    }
}

extension TokenCaseTests {
    /// Reasons that no single request can cause, so each has its own test.
    private static let others: Set<TokenRefusalReason> = [
        .attestationRequired, .attestationInvalid, .tokenUnknown, .refreshNotAllowed, .scopeWithdrawn,
        .accountUnknown, .accountDisabled, .limitReached, .familyLimitReached,
    ]

    @Test func `has a case for every reason of a refusal`() throws {
        let reasons = Set(try OAuthFixture<TokenCase>.all(in: "token").compactMap(\.content.expect.reason))
        let wanted = Set(TokenRefusalReason.allCases).subtracting(Self.others).map(\.rawValue)
        #expect(reasons == Set(wanted))
    }

    @Test(arguments: TokenRefusalReason.allCases)
    func `a reason has a sentence that a response may have`(reason: TokenRefusalReason) {
        #expect(isDescription(reason.explanation))
        #expect(reason.explanation.hasSuffix("."))
        let error = OAuthError.invalidGrant(reason)
        #expect(!error.explanation.contains(reason.rawValue))
        #expect(error.explained.explanation == "\(reason.rawValue): \(reason.explanation)")
        #expect(isDescription(error.explained.explanation))
    }
}

extension TokenCase.Grant {
    init(_ request: TokenRequest) {
        let client = request.client.id.rawValue
        switch request.grant {
        case .authorizationCode(let grant):
            self.init(
                client: client, type: "authorization_code", redirectUri: grant.redirectURI,
                codeVerifier: grant.codeVerifier)
        case .refreshToken(let grant):
            self.init(client: client, type: "refresh_token", scope: grant.scope?.text)
        case .assertion(let grant):
            self.init(
                client: client, type: "jwt-bearer", scope: grant.scope?.text, intent: grant.intent.rawValue)
        case .exchange(let grant): self.init(client: client, type: "token-exchange", scope: grant.scope?.text)
        case .device: self.init(client: client, type: "device_code")
        }
    }
}
