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

extension AppFlipCase.Call {
    /// Members of the body, with the values of the user.
    func members(_ identity: GivenIdentity.Prepared, now: Moment) throws -> [String: String] {
        var members: [String: String] = [:]
        members["client_id"] = clientId
        members["redirect_uri"] = redirectUri
        members["state"] = state
        members["scope"] = scope
        members["code_challenge"] = codeChallenge
        members["code_challenge_method"] = codeChallengeMethod
        members["user_locale"] = userLocale
        members["accept_language"] = acceptLanguage
        members["decision"] = decision
        members["granted_scopes"] = grantedScopes
        members["nonce"] = nonce
        members["identity_token"] = try identityToken.map { text in
            try #require(text == "{identity_token}")
            return identity.token
        }
        members["account_id"] = try accountId.map { text in
            try #require(text == "{account_id}")
            return identity.account
        }
        members["authenticated_at"] = try authenticatedAt.map { text in
            guard text.hasPrefix("{"), text.hasSuffix(" seconds ago}"),
                let seconds = Int64(text.dropFirst().prefix { $0 != " " })
            else { throw UnknownGiven(text: text) }
            return Date(timeIntervalSince1970: Double(now.milliseconds / 1000 - seconds)).ISO8601Format()
        }
        return members
    }
}

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
        #expect(Set(members.keys) == detail.union(["outcome", "redirect_to", "message", "sign_in_again"]))
        #expect(members["sign_in_again"] as? Bool == content.expect.signInAgain)
        let redirect = try #require(content.expect.redirect)
        let location = try #require(members["redirect_to"] as? String)
        let parameters = try Location(location, of: redirect.uri).parameters
        #expect(parameters["error"] == redirect.error)
        #expect(parameters["state"] == redirect.state)
        #expect(parameters["code"] == nil)
    }
}
