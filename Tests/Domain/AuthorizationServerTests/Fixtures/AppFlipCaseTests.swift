import AppleAccounts
import Testing

@testable import AuthorizationServer
@testable import OAuthFixtures

@Suite struct AppFlipCaseTests {
    @Test(arguments: try OAuthFixture<AppFlipCase>.all(in: "app-flip"))
    func `decides about an App Flip call as its file says`(file: OAuthFixture<AppFlipCase>) throws {
        let expect = file.content.expect
        let check = AppFlipCheck(try FixtureConfiguration.settings())
        switch check.check(AppFlipRequestBody(file.content.call), caller: try caller(of: file.content)) {
        case .refuse(let refusal):
            #expect(code(of: refusal) == expect.code)
            #expect(expect.status == (refusal == .callerForbidden ? 403 : 400))
        case .response(let response):
            #expect(file.content.given == nil)
            try compare(response, with: expect)
        case .proceed(let request):
            let identity = try #require(file.content.given?.identity)
            // Only a store knows which accounts exist.
            guard identity != "account unknown" else { return #expect(expect.status == 404) }
            if let scope = expect.scope { #expect(request.scopes.text == scope) }
            let isByToken = file.content.call.identityToken != nil
            if let obstacle = obstacle(identity, byToken: isByToken) {
                try compare(request.link.response(obstacle), with: expect)
            } else {
                try compare(request.link.response(code: "siwa_ac_x"), with: expect)
                #expect(request.link.challenge?.text ?? "" == file.content.call.codeChallenge ?? "")
            }
        }
    }

    /// The prompt depends only on the link, and the final decision checks the link with the same code, so
    /// every case of both folders is run against both.
    @Test(
        arguments: try OAuthFixture<AppFlipCase>.all(in: "app-flip")
            + OAuthFixture<AppFlipCase>.all(in: "app-flip-prompt"))
    func `a prompt and the response of a user who agrees decide alike about a link`(
        file: OAuthFixture<AppFlipCase>
    ) throws {
        let check = AppFlipCheck(try FixtureConfiguration.settings())
        var call = AppFlipRequestBody(file.content.call)
        (call.decision, call.grantedScopes, call.identityToken, call.accountID) = ("granted", nil, nil, "acc")
        let caller = try caller(of: file.content)
        switch (check.link(call, caller: caller), check.check(call, caller: caller)) {
        case (.refuse(let one), .refuse(let other)): #expect(one == other)
        case (.response(let one), .response(let other)): #expect(one == other)
        case (.ask(let link), .proceed(let request)):
            #expect(link.scopes == request.scopes && link.response == request.link.response)
        case (let one, let other): Issue.record("\(one) and \(other)")
        }
    }

    @Test(arguments: try OAuthFixture<AppFlipCase>.all(in: "app-flip-prompt"))
    func `decides about the link of a prompt as its file says`(file: OAuthFixture<AppFlipCase>) throws {
        let (call, expect) = (file.content.call, file.content.expect)
        // This member is unknown only to the reader of the body, which does not run here.
        guard expect.code != "member_unknown" else { return }
        let check = AppFlipCheck(try FixtureConfiguration.settings())
        switch check.link(AppFlipRequestBody(call), caller: try caller(of: file.content)) {
        case .refuse(let refusal): #expect(code(of: refusal) == expect.code)
        case .response(let response):
            #expect(file.content.given == nil && expect.signInAgain == false)
            try compare(response, with: expect)
        case .ask(let link):
            if let prompt = expect.prompt {
                #expect(link.scopes.text == prompt.scope)
                #expect(link.language.rawValue == prompt.language)
            } else {
                // The decision depends on the account, so `given` must say which.
                _ = try #require(file.content.given)
            }
        }
    }

    @Test(arguments: AppFlipOutcome.allCases)
    func `has a case for every outcome`(outcome: AppFlipOutcome) throws {
        let cases = try OAuthFixture<AppFlipCase>.all(in: "app-flip")
        #expect(cases.contains { $0.content.expect.outcome == outcome.rawValue })
    }

    private func compare(_ response: AppFlipResponse, with expect: AppFlipCase.Expectation) throws {
        #expect(expect.status == 200)
        #expect(response.outcome.rawValue == expect.outcome)
        let redirect = try #require(expect.redirect)
        let parameters = try Location(response.redirectTo, of: redirect.uri).parameters
        #expect(parameters["error"] == redirect.error)
        #expect(parameters["state"] == redirect.state)
        #expect((parameters["code"] != nil) == (redirect.error == nil))
        #expect((parameters["error_description"] != nil) == (redirect.error != nil))
        #expect(parameters["iss"] == nil)
        if let language = expect.language {
            #expect(
                response.message == response.outcome.message[try #require(PageLanguage(rawValue: language))])
        }
    }

    private func caller(of content: AppFlipCase) throws -> AppScope {
        guard let apps = content.caller else { return .all }
        return .only(Set(try apps.map { try #require(ClientID($0)) }))
    }

    /// The API's error code.
    private func code(of refusal: AppFlipRefusal) -> String {
        switch refusal {
        case .redirectURIMismatch: "redirect_uri_mismatch"
        case .callerForbidden: "caller_forbidden"
        case .decisionMissing: "member_missing"
        case .decisionUnknown, .identityAmbiguous: "member_malformed"
        }
    }

    /// - Parameter byToken: True if an identity token identifies the user. A token from before the end of an
    ///   account is refused until the user signs in again.
    private func obstacle(_ identity: String, byToken: Bool) -> AppFlipObstacle? {
        if byToken, ["account erased", "account being erased", "apple account deleted"].contains(identity) {
            return .credentialRevoked
        }
        switch identity {
        case "accepted", "accepted with its nonce", "signed in 4000 seconds ago", "healed by a new sign-in":
            return nil
        case "refused", "refused: of another app", "refused: expired", "refused: nonce of another sign-in":
            return .identityRefused
        case "too old", "too old as the backend says": return .authenticationTooOld
        case "credential revoked": return .credentialRevoked
        case "unavailable": return .unavailable
        case "account erased": return .accountErased
        case "account being erased": return .accountBeingErased
        case "apple account deleted": return .appleAccountDeleted
        default:
            Issue.record("unknown identity \(identity)")
            return nil
        }
    }
}

extension AppFlipRequestBody {
    init(_ call: AppFlipCase.Call) {
        self.init()
        clientID = call.clientId
        redirectURI = call.redirectUri
        state = call.state
        scope = call.scope
        codeChallenge = call.codeChallenge
        codeChallengeMethod = call.codeChallengeMethod
        userLocale = call.userLocale
        acceptLanguage = call.acceptLanguage
        decision = call.decision
        grantedScopes = call.grantedScopes
        identityToken = call.identityToken
        nonce = call.nonce
        accountID = call.accountId
    }
}
