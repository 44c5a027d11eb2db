import AppleAccounts
import Foundation
import Testing

@testable import AuthorizationServer
@testable import OAuthFixtures

/// Plays a call of `POST /v1/oauth/app-flip/prompt`.
struct AppFlipPromptPlayer {
    let service: PlayedService
    let content: AppFlipCase

    func play() async throws {
        let (call, expect) = (content.call, content.expect)
        let client = call.clientId.flatMap { service.deployment.oauth.clients[$0] }
        let user = PlayedUser(service: service, app: client?.app.rawValue ?? GivenAssertion.app)
        let identity = try await GivenIdentity(service: service, user: user, call: call)
            .prepare(content.given?.identity)
        let before = try await events()
        let response = try await service.call(
            "POST", "/v1/oauth/app-flip/prompt", try call.members(identity, now: service.now),
            caller: content.caller?.first)
        #expect(response.status == expect.status, "\(response.text)")
        response.expectNoStore()
        #expect(try await events() == before)
        if let account = AccountID(identity.account) {
            #expect(try await service.store.grants(of: account).isEmpty)
        }
        let members = try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
        guard let outcome = expect.outcome else {
            #expect(members?["code"] as? String == expect.code)
            return
        }
        #expect(members?["outcome"] as? String == outcome)
        if let prompt = expect.prompt {
            try compare(try #require(members?["prompt"] as? [String: Any]), with: prompt)
            #expect(members?.keys.count == 2)
        } else {
            try expectRedirect(try #require(members))
        }
    }

    private func events() async throws -> Int {
        try await service.store.events(after: 0, limit: 1000, visibleTo: .all).events.count
    }

    private func compare(_ prompt: [String: Any], with expect: AppFlipCase.Prompt) throws {
        #expect(prompt["language"] as? String == expect.language)
        #expect(prompt["direction"] as? String == (expect.language == "ar" ? "rtl" : "ltr"))
        let scopes = try #require(prompt["scopes"] as? [[String: Any]])
        let names = scopes.compactMap { $0["scope"] as? String }
        #expect(names.joined(separator: " ") == expect.scope)
        let optional = scopes.filter { $0["optional"] as? Bool == true }.compactMap { $0["scope"] as? String }
        #expect(optional == expect.optional.map { [$0] } ?? [])
        #expect((prompt["optional_scopes_note"] != nil) == !optional.isEmpty)
        #expect((prompt["account"] != nil) == (content.call.accountId != nil))
        for name in ["title", "scopes_title", "agree", "cancel"] {
            #expect((prompt[name] as? String)?.isEmpty == false, "\(name)")
        }
    }

    private func expectRedirect(_ members: [String: Any]) throws {
        let detail: Set<String> = content.expect.outcome == "invalid_request" ? ["detail"] : []
        #expect(
            Set(members.keys) == detail.union(["outcome", "redirect_to", "message", "sign_in_again"]))
        #expect(members["sign_in_again"] as? Bool == content.expect.signInAgain)
        let redirect = try #require(content.expect.redirect)
        let location = try #require(members["redirect_to"] as? String)
        let parameters = try Location(location, of: redirect.uri).parameters
        #expect(parameters["error"] == redirect.error)
        #expect(parameters["state"] == redirect.state)
        #expect(parameters["code"] == nil)
    }
}
