import AppleAccounts
import AuthorizationServer
import Cryptography
import JOSE
import Logging
import OAuthSamples
import SignIn
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import OAuth

/// Tokens, App Flip and streamlined linking of a user who is disabled or signed out.
@Suite struct DisabledAccountTests {
    private func disable(_ account: Account, _ world: OAuthWorld) async throws {
        try await world.store.change(DisableCommand.sample(account, at: world.now))
    }

    private func enable(_ account: Account, _ world: OAuthWorld) async throws {
        try await world.store.change(EnableCommand.sample(account, at: world.now))
    }

    @Test func `tokens are suspended for every caller, and good again afterwards`() async throws {
        let world = try OAuthWorld()
        let account = try await world.user()
        let tokens = try await world.redeem(try await world.code(for: account.id))
        let code = try await world.code(for: account.id)
        let refreshToken = try #require(tokens.refreshToken)
        try await disable(account, world)
        #expect(try await !world.isActive(tokens.accessToken))
        #expect(try await !world.isActive(refreshToken))
        let userInfo = UserInfo(world.server)
        await #expect(throws: OAuthError(.invalidToken, "")) {
            _ = try await userInfo.claims(accessToken: tokens.accessToken)
        }
        await #expect(throws: OAuthError.invalidGrant(.accountDisabled)) {
            _ = try await world.refresh(refreshToken)
        }
        await #expect(throws: OAuthError.invalidGrant(.accountDisabled)) { _ = try await world.redeem(code) }
        try await enable(account, world)
        #expect(try await world.isActive(tokens.accessToken))
        _ = try await userInfo.claims(accessToken: tokens.accessToken)
        #expect(try await world.refresh(refreshToken).refreshToken != nil)
        _ = try await world.redeem(code)
    }

    @Test func `App Flip is unrecoverable, by an identity token and by an account`() async throws {
        let world = try OAuthWorld()
        let account = try await world.user()
        try await disable(account, world)
        var call = AppFlipRequestBody()
        (call.clientID, call.redirectURI) = ("google", OAuthSample.appFlipURI)
        (call.state, call.scope, call.decision) = ("s", "openid", "granted")
        let flip = AppFlip(world.server)
        for isToken in [true, false] {
            var call = call
            if isToken { call.identityToken = try world.identityToken() }
            if !isToken { call.accountID = account.id.rawValue }
            let response = try await flip.response(call, caller: .all)
            #expect(response.outcome == .unrecoverable)
            #expect(response.redirectTo.contains("error=unrecoverable"))
            // The account can be linked again, so that this is not the sentence for an erased account.
            #expect(response.message.contains("disabled this account"))
            #expect(response.redirectTo.contains("disabled%20this%20account"))
        }
        call.accountID = account.id.rawValue
        guard case .refused(let prompt, let endsWithSignIn) = try await flip.prompt(call, caller: .all) else {
            Issue.record("a disabled account is asked")
            return
        }
        #expect(prompt.outcome == .unrecoverable && prompt.message.contains("disabled this account"))
        #expect(!endsWithSignIn)
        call.accountID = nil
        #expect(try await world.store.grants(of: account.id).isEmpty)
        try await enable(account, world)
        call.accountID = account.id.rawValue
        #expect(try await flip.response(call, caller: .all).outcome == .code)
    }

    @Test func `streamlined linking finds the account, and links and creates nothing`() async throws {
        let world = try OAuthWorld { $0.allowsAccountsWithoutApple = true }
        let account = try await world.user { claims in
            claims["email"] = .string("ada@gmail.com")
            claims["is_private_email"] = nil
        }
        try await disable(account, world)
        func linking(_ intent: String) async throws -> LinkingResponse? {
            guard case .linking(let response) = try await world.assert(intent, world.googleToken())
            else { return nil }
            return response
        }
        #expect(try await linking("check") == .accountFound)
        for (intent, reason) in [("get", .accountDisabled), ("create", .accountExists)]
            as [(String, TokenRefusalReason)]
        {
            #expect(
                try await linking(intent) == .linkingError(loginHint: "ada@gmail.com", reason: reason))
        }
        // Also when Apple has ended the credential: a new account in its place would enable the user.
        try await world.notify("consent-revoked")
        #expect(
            try await linking("create")
                == .linkingError(loginHint: "ada@gmail.com", reason: .accountExists))
    }

    @Test func `a sign-out leaves the links with Google alone unless they are asked for`() async throws {
        let world = try OAuthWorld()
        let account = try await world.user()
        let shop = try await world.redeem(try await world.code(for: account.id))
        let google = try await world.linked(account.id)
        let useCases = GrantUseCases(world.server)
        let changed = try await useCases.signOut(account.id.rawValue, endsGoogleLinks: false, allowed: .all)
        #expect(changed.sessionsEndedAt == world.now)
        #expect(try await !world.isActive(shop.accessToken))
        #expect(try await world.isActive(google.accessToken))
        _ = try await useCases.signOut(account.id.rawValue, endsGoogleLinks: true, allowed: .all)
        #expect(try await !world.isActive(google.accessToken))
        #expect(try await world.reported().count == 1)
        // The authentication that the code was for is over.
        await #expect(throws: GrantRefusal(.credentialRevoked)) { _ = try await world.code(for: account.id) }
    }
}

@Suite struct EndedSessionsTests {
    private static let session = BrowserSession(
        accountID: AccountID(UniqueID(high: 1, low: 1)), clientID: "com.example.app",
        authenticatedAt: 1_000_000,
        expiresAt: 2_000_000)

    @Test func `a replica with a slow clock finds the end after another has purged what is over`()
        async throws
    {
        let store = ReferenceStore()
        let ended = EndedSessions(tickets: store)
        try await ended.insert(Self.session)
        try await ended.insert(Self.session)
        _ = try await store.purgeTickets(expiredBefore: 2_300_000)
        #expect(try await ended.contains(Self.session, at: 1_999_999))
        _ = try await store.purgeTickets(expiredBefore: 2_400_000)
        #expect(try await !ended.contains(Self.session, at: 1_999_999))
    }
}

@Suite struct OAuthMaintenanceTests {
    @Test func `keys are made ahead, and codes are forgotten a day past their expiry`() async throws {
        let world = try OAuthWorld()
        let account = try await world.user()
        let code = try await world.code(for: account.id)
        _ = try await world.redeem(code)
        let maintenance = OAuthMaintenance(server: world.server, clock: HurriedClock(), logger: .silent)
        await maintenance.refreshKeys()
        #expect(Set(try await world.store.signingKeys().map(\.algorithm)) == ["ES256", "RS256"])
        world.clock.advance(by: .seconds(600 + 86_400 + 1))
        #expect(try await world.store.purgeGrants(at: world.now) > 0)
        await maintenance.purgeGrants()
        #expect(try await world.store.purgeGrants(at: world.now) == 0)
        // What the code gave lives on.
        #expect(try await world.store.grants(of: account.id).count == 1)
    }
}
