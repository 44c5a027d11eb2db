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

    @Test func `has enough cases`() throws {
        #expect(try OAuthFixture<AuthorizationCase>.all(in: "authorization").count >= 80)
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
