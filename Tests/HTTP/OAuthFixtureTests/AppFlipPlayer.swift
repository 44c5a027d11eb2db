import AppleAccounts
import Foundation
import Testing
import TokenMint

@testable import AuthorizationServer
@testable import OAuthFixtures

/// Plays a call of `POST /v1/oauth/app-flip`, and redeems its code.
struct AppFlipPlayer {
    let service: PlayedService
    let content: AppFlipCase

    func play() async throws {
        let (call, expect) = (content.call, content.expect)
        let identity = try await GivenIdentity(service: service, user: user(), call: call)
            .prepare(content.given?.identity)
        if let caller = content.caller { #expect(caller.count == 1) }
        let response = try await service.call(
            "POST", "/v1/oauth/app-flip", try content.call.members(identity, now: service.now),
            caller: content.caller?.first)
        #expect(response.status == expect.status, "\(response.text)")
        response.expectNoStore()
        guard let outcome = expect.outcome else {
            let problem = try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
            let code = try #require(expect.code)
            #expect(problem?["code"] as? String == code)
            #expect(!response.text.contains("redirect_to"))
            return try await expectNoAccount()
        }
        let members = try #require(try response.object() as? [String: String])
        let detail: Set<String> = outcome == "invalid_request" ? ["detail"] : []
        #expect(Set(members.keys) == detail.union(["redirect_to", "outcome", "message"]))
        #expect(members["outcome"] == outcome)
        try expectMessage(members["message"], outcome)
        let code = try expectRedirect(members["redirect_to"])
        #expect((code != nil) == (outcome == "code"))
        if let code { try await redeem(code) } else { try await expectNoAccount() }
    }

    private func user() throws -> PlayedUser {
        let client = content.call.clientId.flatMap { service.deployment.oauth.clients[$0] }
        return PlayedUser(service: service, app: client?.app.rawValue ?? GivenAssertion.app)
    }

    private func expectMessage(_ message: String?, _ outcome: String) throws {
        let texts = try #require(AppFlipOutcome(rawValue: outcome)?.message)
        let language = try #require(PageLanguage(rawValue: content.expect.language ?? "en"))
        #expect(message == texts[language])
    }

    /// Checks the redirect, and returns its code.
    private func expectRedirect(_ location: String?) throws -> String? {
        let redirect = try #require(content.expect.redirect)
        let parameters = try Location(try #require(location), of: redirect.uri).parameters
        #expect(parameters["error"] == redirect.error)
        #expect(parameters["state"] == redirect.state)
        let known: Set = ["code", "error", "error_description", "state"]
        #expect(Set(parameters.keys).isSubset(of: known))
        #expect((parameters["code"] != nil) == (redirect.error == nil))
        if redirect.error != nil {
            let description = try #require(parameters["error_description"]?.removingPercentEncoding)
            #expect(isDescription(description))
        }
        return parameters["code"]
    }

    /// Redeems the code as Google does.
    private func redeem(_ code: String) async throws {
        let (call, expect) = (content.call, content.expect)
        let client = try #require(call.clientId)
        var form = [
            "grant_type": "authorization_code", "code": code, "client_id": client,
            "client_secret": try #require(service.deployment.secrets[client]?.first),
            "redirect_uri": try #require(call.redirectUri),
        ]
        if let challenge = call.codeChallenge, !challenge.isEmpty {
            #expect(challenge == ProofKeySample.challenge)
            let missing = try await service.post("/oauth/token", form)
            #expect(missing.status == 400)
            form["code_verifier"] = ProofKeySample.verifier
        }
        let response = try await service.post("/oauth/token", form)
        try #require(response.status == 200, "\(response.text)")
        let tokens = try response.object()
        let scope = try #require(expect.scope)
        #expect(tokens["scope"] as? String == scope)
        let claims = try ReadToken(try #require(tokens["access_token"] as? String)).claims
        let authenticatedAt = try #require(claims["auth_time"] as? Int)
        let ago = Int(service.now.milliseconds / 1000) - authenticatedAt
        #expect(ago == expect.authenticatedSecondsAgo ?? 0)
    }

    /// Checks that a call without a code makes no account.
    private func expectNoAccount() async throws {
        guard content.given == nil || content.given?.identity == "refused" else { return }
        let key = SubjectKey(
            team: try #require(TeamID(PlayedUser.team)),
            subject: try #require(AppleSubject(TokenMint.subject)))
        #expect(try await service.store.account(key) == nil)
    }
}
