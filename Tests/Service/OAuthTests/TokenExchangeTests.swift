import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Encodings
import SignIn
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import OAuth

/// Apple's identity token gives tokens (RFC 8693).
@Suite struct TokenExchangeTests {
    private func world(_ change: (inout ClientDraft) -> Void = { _ in }) throws -> OAuthWorld {
        try OAuthWorld { draft in
            draft.clients[1].isFirstParty = true
            draft.clients[1].allowsNativeSignIn = true
            change(&draft.clients[1])
        }
    }

    /// Signs the user in on the phone, and exchanges the identity token.
    private func exchange(
        _ world: OAuthWorld, _ more: [String: String] = [:],
        claims: (inout JSONObject) -> Void = { _ in }
    ) async throws -> TokenResponse {
        let minted = world.signIn.mintNonce()
        let token = try world.identityToken {
            $0["nonce"] = .string(minted.nonceSHA256)
            claims(&$0)
        }
        return try await world.tokens(
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": token,
                "subject_token_type": "urn:ietf:params:oauth:token-type:id_token", "nonce": minted.nonce,
            ].merging(more) { $1 }, as: "desktop")
    }

    private func account(_ world: OAuthWorld) async throws -> Account? {
        try await world.store.account(
            SubjectKey(team: world.team, subject: try #require(AppleSubject(TokenMint.subject))))
    }

    @Test func `a sign-in on the phone makes the account and gives tokens`() async throws {
        let world = try world()
        let user = #"{"name":{"firstName":"Ada","lastName":"Lovelace"}}"#
        let tokens = try await exchange(world, ["user": user])
        #expect(tokens.issuedTokenType == .accessToken)
        #expect(tokens.scope == "openid profile email")
        let claims = try OAuthWorld.claims(tokens.accessToken)
        let account = try #require(try await account(world))
        #expect(account.profile.firstName == "Ada" && account.profile.lastName == "Lovelace")
        #expect(claims["sub"]?.string == account.id.rawValue)
        #expect(claims["client_id"]?.string == "desktop")
        #expect(claims["auth_time"]?.integer == TokenMint.sampleTime)
        #expect(try await world.isActive(tokens.accessToken))
        let idToken = try #require(tokens.idToken)
        #expect(try OAuthWorld.claims(idToken)["nonce"] == nil)
        let refreshed = try await world.refresh(tokens.refreshToken, as: "desktop")
        #expect(refreshed.issuedTokenType == nil)
        #expect(try await world.store.grants(of: account.id).map(\.oauthClientID.rawValue) == ["desktop"])
    }

    @Test func `an address from the client is ignored, because only Apple's token names one`() async throws {
        let world = try world()
        let user = #"{"name":{"firstName":"Ada"},"email":"victim@example.com"}"#
        _ = try await exchange(world, ["user": user]) {
            for name in ["email", "email_verified", "is_private_email"] { $0[name] = nil }
        }
        let account = try #require(try await account(world))
        #expect(account.profile.firstName == "Ada")
        #expect(account.email == nil)
    }

    @Test func `the same token and nonce give tokens once`() async throws {
        let world = try world()
        let minted = world.signIn.mintNonce()
        let token = try world.identityToken { $0["nonce"] = .string(minted.nonceSHA256) }
        _ = try await exchange(world, ["subject_token": token, "nonce": minted.nonce])
        await #expect(throws: OAuthError(.invalidRequest, "")) {
            _ = try await exchange(world, ["subject_token": token, "nonce": minted.nonce])
        }
    }

    @Test func `the codes of the interface say why a token is refused`() async throws {
        let world = try world()
        do {
            _ = try await exchange(world) { $0["exp"] = .integer(TokenMint.sampleTime - 3600) }
            Issue.record("accepted")
        } catch let error as OAuthError {
            #expect(error.explanation.contains("token_expired"))
        }
    }

    @Test func `a grant that is refused after the sign-in leaves a user who can sign in again`() async throws
    {
        let world = try world()
        for _ in 0..<GrantPace.most {
            _ = try await exchange(world)
            let id = try #require(try await account(world)).id
            let grant = try #require(try await world.store.grants(of: id).first)
            try await GrantUseCases(world.server).end(grant.id.rawValue, of: id.rawValue, allowed: .all)
        }
        let refused = await #expect(throws: OAuthError.self) { _ = try await exchange(world) }
        #expect(refused?.code == .temporarilyUnavailable && refused?.reason == .limitReached)
        #expect(refused?.retryAfter == 3600)
        let id = try #require(try await account(world)).id
        #expect(try await world.store.grants(of: id).isEmpty)
        world.clock.advance(by: .seconds(3600))
        let tokens = try await exchange(world) {
            $0["auth_time"] = .integer(world.clock.secondsSince1970)
            $0["iat"] = .integer(world.clock.secondsSince1970)
            $0["exp"] = .integer(world.clock.secondsSince1970 + 600)
        }
        #expect(try await world.isActive(tokens.accessToken))
    }

    @Test func `a withdrawn consent ends the tokens, and an older sign-in gives no others`() async throws {
        let world = try world()
        let tokens = try await exchange(world)
        try await world.notify("consent-revoked", secondsLater: 30)
        #expect(try await !world.isActive(tokens.accessToken))
        await #expect(throws: OAuthError(.invalidRequest, "")) { _ = try await exchange(world) }
        await #expect(throws: OAuthError(.invalidGrant, "")) {
            _ = try await world.refresh(tokens.refreshToken, as: "desktop")
        }
    }

    @Test func `a sign-in that is too old signs nobody in`() async throws {
        let world = try world { $0.maxAuthenticationAge = 59 }
        await #expect(throws: OAuthError(.invalidRequest, "")) { _ = try await exchange(world) }
        #expect(try await account(world) == nil)
    }

    enum Interruption: CaseIterable, Sendable {
        case consentRevoked, accountDeleted, disabled, signedOut, erased
    }

    @Test(arguments: Interruption.allCases)
    func `what ends the user's access between the two transactions leaves no live token`(
        interruption: Interruption
    ) async throws {
        let earlier = try OAuthWorld()
        let interrupted = InterruptedGrantStore(earlier.store)
        let world = try OAuthWorld(after: earlier, grants: interrupted) { draft in
            draft.clients[1].isFirstParty = true
            draft.clients[1].allowsNativeSignIn = true
        }
        interrupted.interrupt {
            let key = SubjectKey(team: world.team, subject: try #require(AppleSubject(TokenMint.subject)))
            // The first transaction is durable.
            let id = try #require(try await world.store.account(key)).id.rawValue
            switch interruption {
            case .consentRevoked: try await world.notify("consent-revoked", secondsLater: 30)
            case .accountDeleted: try await world.notify("account-delete", secondsLater: 30)
            case .disabled:
                _ = try await world.signIn.disable(id: id, reason: .abuse, until: nil, allowed: .all)
            case .signedOut: _ = try await world.signIn.signOut(id: id, keeping: [], allowed: .all)
            case .erased: _ = try await world.signIn.erase(id: id, allowed: .all)
            }
        }
        await #expect(throws: OAuthError(.invalidRequest, "")) { _ = try await exchange(world) }
        let account = try await account(world)
        if let account { #expect(try await world.store.grants(of: account.id).isEmpty) }
        #expect(try await world.store.purgeGrants(at: .last) == 0, "no family and no code is there")
        guard interruption == .disabled, let account else { return }
        // Enabled again, the user signs in and gets tokens.
        _ = try await world.signIn.enable(id: account.id.rawValue, allowed: .all)
        let tokens = try await exchange(world)
        #expect(try await world.isActive(tokens.accessToken))
    }
}
