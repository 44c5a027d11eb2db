import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Commits
import Cryptography
import Encodings
import JOSE
import KeySets
import OAuthSamples
import SignIn
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import OAuth

@Suite struct AppFlipTests {
    private func call(_ change: (inout AppFlipRequestBody) -> Void = { _ in }) -> AppFlipRequestBody {
        var call = AppFlipRequestBody()
        call.clientID = "google"
        call.redirectURI = OAuthSample.appFlipURI
        call.state = "a b&c"
        call.scope = "openid devices"
        call.decision = "granted"
        change(&call)
        return call
    }

    /// The code in a URL.
    private func code(in response: AppFlipResponse) throws -> String {
        let start = try #require(response.redirectTo.firstRange(of: "code=")?.upperBound)
        return String(response.redirectTo[start...].prefix { $0 != "&" })
    }

    @Test func `an identity token signs the user in and gives a code that Google redeems`() async throws {
        let world = try OAuthWorld()
        let token = try world.identityToken()
        let response = try await AppFlip(world.server).response(
            call { $0.identityToken = token }, caller: .all)
        #expect(response.outcome == .code)
        #expect(response.redirectTo.hasPrefix(OAuthSample.appFlipURI + "?code=siwa_ac_"))
        #expect(response.redirectTo.hasSuffix("&state=a%20b%26c"))
        let tokens = try await world.redeem(
            try code(in: response), as: "google", uri: OAuthSample.appFlipURI, verifier: nil)
        #expect(tokens.scope == "openid devices")
        let claims = try OAuthWorld.claims(tokens.accessToken)
        #expect(claims["auth_time"]?.integer == TokenMint.sampleTime)
    }

    @Test func `the code is bound to the redirect URI and to the challenge`() async throws {
        let world = try OAuthWorld()
        let account = try await world.user()
        let response = try await AppFlip(world.server).response(
            call {
                $0.accountID = account.id.rawValue
                $0.codeChallenge = OAuthWorld.challenge
                $0.codeChallengeMethod = "S256"
            }, caller: .all)
        let code = try code(in: response)
        await #expect(throws: OAuthError(.invalidGrant, "")) {
            _ = try await world.redeem(code, as: "google", uri: OAuthSample.googleURI)
        }
        await #expect(throws: OAuthError(.invalidGrant, "")) {
            _ = try await world.redeem(code, as: "google", uri: OAuthSample.appFlipURI, verifier: nil)
        }
        let tokens = try await world.redeem(code, as: "google", uri: OAuthSample.appFlipURI)
        // The user signed in then, and the backend did not say another time.
        #expect(try OAuthWorld.claims(tokens.accessToken)["auth_time"]?.integer == TokenMint.sampleTime)
    }

    @Test func `a refused identity is cancelled, so that Google goes on in the browser`() async throws {
        let world = try OAuthWorld()
        let flip = AppFlip(world.server)
        let refused = try await flip.response(call { $0.identityToken = "a.b.c" }, caller: .all)
        #expect(refused.outcome == .cancelled)
        #expect(refused.redirectTo.contains("error=cancelled"))
        #expect(try await flip.response(call(), caller: .all).outcome == .cancelled)
        let account = try await world.user()
        try await world.notify("consent-revoked")
        let revoked = try await flip.response(call { $0.accountID = account.id.rawValue }, caller: .all)
        #expect(revoked.outcome == .cancelled)
        let old = try world.identityToken()
        #expect(try await flip.response(call { $0.identityToken = old }, caller: .all).outcome == .cancelled)
        #expect(try await world.store.grants(of: account.id).isEmpty)
    }

    @Test func `an authentication that is too old is cancelled and signs nobody in`() async throws {
        let world = try OAuthWorld { $0.clients[2].maxAuthenticationAge = 59 }
        let token = try world.identityToken()
        let flip = AppFlip(world.server)
        #expect(
            try await flip.response(call { $0.identityToken = token }, caller: .all).outcome == .cancelled)
        let key = SubjectKey(team: world.team, subject: try #require(AppleSubject(TokenMint.subject)))
        #expect(try await world.store.account(key) == nil)
        let account = try await world.user()
        let unsaid = try await flip.response(call { $0.accountID = account.id.rawValue }, caller: .all)
        #expect(unsaid.outcome == .cancelled)
        let recent = try await flip.response(
            call {
                $0.accountID = account.id.rawValue
                $0.authenticatedAt = world.now
            }, caller: .all)
        #expect(recent.outcome == .code)
    }

    @Test(
        arguments: [(0, .code), (60_000, .code), (60_001, .cancelled), (86_400_000, .cancelled)]
            as [(Int64, AppFlipOutcome)])
    func `an authentication in the future is cancelled beyond the leeway`(
        ahead: Int64, outcome: AppFlipOutcome
    ) async throws {
        let world = try OAuthWorld { $0.clients[2].maxAuthenticationAge = 3600 }
        let account = try await world.user()
        let response = try await AppFlip(world.server).response(
            call {
                $0.accountID = account.id.rawValue
                $0.authenticatedAt = world.now.advanced(byMilliseconds: ahead)
            }, caller: .all)
        #expect(response.outcome == outcome)
    }

    @Test func `the year 9999 is not recent for ever`() async throws {
        let world = try OAuthWorld()
        let account = try await world.user()
        let response = try await AppFlip(world.server).response(
            call {
                $0.accountID = account.id.rawValue
                $0.authenticatedAt = .last
            }, caller: .all)
        #expect(response.outcome == .cancelled)
        #expect(try await world.store.grants(of: account.id).isEmpty)
    }

    @Test func `an account that is deleted here or at Apple is unrecoverable`() async throws {
        let world = try OAuthWorld()
        let account = try await world.user()
        let flip = AppFlip(world.server)
        _ = try await world.signIn.erase(id: account.id.rawValue, allowed: .all, waiting: .zero)
        let erased = try await flip.response(call { $0.accountID = account.id.rawValue }, caller: .all)
        #expect(erased.outcome == .unrecoverable)
        let other = try await world.user { claims in
            claims["sub"] = .string("001234.ffffffffffffffffffffffffffffffff.0123")
        }
        var deletion = TokenMint.notificationClaims(type: "account-delete", at: TokenMint.sampleTime + 60)
        let event = JSONObject([
            ("type", .string("account-delete")), ("sub", .string(other.subject.rawValue)),
            ("event_time", .integer((TokenMint.sampleTime + 60) * 1000)),
        ])
        deletion["events"] = .string(
            String(decoding: JSONValue.object(event).serialized(), as: UTF8.self))
        let pending = try world.signIn.receiveNotification(
            payload: try TokenMint.shared.sign(deletion)
        )
        _ = try await pending.value
        let deleted = try await flip.response(call { $0.accountID = other.id.rawValue }, caller: .all)
        #expect(deleted.outcome == .unrecoverable)
    }

    @Test func `an unknown account and a foreign redirect URI have no URL to open`() async throws {
        let world = try OAuthWorld()
        let flip = AppFlip(world.server)
        let unknown = "acc_01a1fbea-fd31-77cb-bae8-b913bd619922"
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            _ = try await flip.response(call { $0.accountID = unknown }, caller: .all)
        }
        await #expect(throws: AppFlipRefusal.redirectURIMismatch) {
            _ = try await flip.response(call { $0.redirectURI = OAuthSample.googleURI }, caller: .all)
        }
        let other = ClientID("com.example.other")
        await #expect(throws: AppFlipRefusal.callerForbidden) {
            _ = try await flip.response(call(), caller: .only([other]))
        }
    }

    // Android, by an intent.

    private func androidWorld() throws -> OAuthWorld {
        try OAuthWorld {
            $0.clients[2].androidPackage = "com.example.app"
            $0.clients[2].androidFingerprints = [Array(repeating: "0A", count: 32).joined(separator: ":")]
        }
    }

    @Test(arguments: [nil, "", "a state"])
    func `an Android app gets the code itself, with or without a state`(state: String?) async throws {
        let world = try androidWorld()
        let account = try await world.user()
        let response = try await AppFlip(world.server).response(
            call {
                $0.redirectURI = OAuthSample.googleURI
                $0.state = state
                $0.accountID = account.id.rawValue
            }, caller: .all)
        #expect(response.outcome == .code)
        let code = try #require(response.code)
        #expect(try self.code(in: response) == code)
        await #expect(throws: OAuthError(.invalidGrant, "")) {
            _ = try await world.redeem(code, as: "google", uri: OAuthSample.appFlipURI, verifier: nil)
        }
        _ = try await world.redeem(code, as: "google", uri: OAuthSample.googleURI, verifier: nil)
    }

    @Test func `only a client with an Android app takes the URI of an intent, and iOS needs a state`()
        async throws
    {
        let plain = try OAuthWorld()
        await #expect(throws: AppFlipRefusal.redirectURIMismatch) {
            _ = try await AppFlip(plain.server).response(
                call { $0.redirectURI = OAuthSample.googleURI }, caller: .all)
        }
        let world = try androidWorld()
        let account = try await world.user()
        func response(_ change: (inout AppFlipRequestBody) -> Void) async throws -> AppFlipResponse {
            try await AppFlip(world.server).response(
                call {
                    $0.accountID = account.id.rawValue
                    change(&$0)
                }, caller: .all)
        }
        #expect(try await response { $0.state = nil }.outcome == .invalidRequest)
        let iOS = try await response { _ in }
        #expect(iOS.outcome == .code && iOS.code == nil)
        let long = try await response {
            $0.redirectURI = OAuthSample.googleURI
            $0.state = String(repeating: "s", count: RequestState.longest + 1)
        }
        #expect(long.outcome == .invalidRequest)
        let denied = try await response {
            $0.redirectURI = OAuthSample.googleURI
            $0.decision = "denied"
        }
        #expect(denied.outcome == .accessDenied && denied.code == nil)
        let other = try await response {
            $0.redirectURI = OAuthSample.googleURI
            $0.clientID = "shop"
        }
        #expect(other.outcome == .invalidRequest)
    }

    // The prompt.

    private func prompt(
        _ world: OAuthWorld, _ change: (inout AppFlipRequestBody) -> Void
    ) async throws -> AppFlipPrompt {
        try await AppFlip(world.server).prompt(
            call {
                $0.decision = nil
                change(&$0)
            }, caller: .all)
    }

    @Test func `the sheet asks for the scopes of the link, and nothing is stored`() async throws {
        let world = try OAuthWorld()
        let account = try await world.user()
        let question = try #require(try await prompt(world) { $0.accountID = account.id.rawValue }.question)
        #expect(question.scopes.map(\.token.rawValue) == ["openid", "devices"])
        #expect(question.scopes.map(\.isOptional) == [false, true])
        #expect(question.account?.id == account.id)
        #expect(try await world.store.grants(of: account.id).isEmpty)
        let early = try #require(try await prompt(world) { _ in }.question)
        #expect(early.account == nil)
    }

    @Test func `a session from before a revocation must sign in again, also after a sign-in elsewhere`()
        async throws
    {
        let world = try OAuthWorld()
        let account = try await world.user()
        try await world.notify("consent-revoked")
        let revoked = try await prompt(world) { $0.accountID = account.id.rawValue }
        #expect(revoked.refusal?.outcome == .cancelled)
        #expect(revoked.refusal?.endsWithSignIn == true)
        world.clock.advance(by: .seconds(120))
        let later = TokenMint.sampleTime + 120
        _ = try await world.user { claims in
            claims["iat"] = .integer(later)
            claims["auth_time"] = .integer(later)
        }
        for (time, isAsked) in [(TokenMint.sampleTime, false), (later, true)] {
            let result = try await prompt(world) {
                $0.accountID = account.id.rawValue
                $0.authenticatedAt = Moment(seconds: time)
            }
            #expect((result.question != nil) == isAsked)
            #expect(result.refusal?.endsWithSignIn ?? true)
        }
    }

    @Test func `at the limit of new grants the user is not asked, unless the grant is there`() async throws {
        let world = try OAuthWorld()
        let account = try await world.user()
        for number in 1...GrantPace.most {
            let asked = try await prompt(world) { $0.accountID = account.id.rawValue }
            #expect(asked.question != nil, "\(number)")
            _ = try await AppFlip(world.server).response(
                call { $0.accountID = account.id.rawValue }, caller: .all)
            let grant = try #require(try await world.store.grants(of: account.id).first)
            if number == GrantPace.most {
                // A further consent only widens the grant.
                #expect(try await prompt(world) { $0.accountID = account.id.rawValue }.question != nil)
            }
            try await GrantUseCases(world.server).end(
                grant.id.rawValue, of: account.id.rawValue, allowed: .all)
        }
        let refused = try await prompt(world) { $0.accountID = account.id.rawValue }
        #expect(refused.refusal?.outcome == .cancelled && refused.refusal?.endsWithSignIn == false)
        world.clock.advance(by: .seconds(3600))
        let later = try await prompt(world) { $0.accountID = account.id.rawValue }
        #expect(later.question != nil)
    }

    @Test func `an account that is gone ends linking before the user is asked`() async throws {
        let world = try OAuthWorld()
        let account = try await world.user()
        _ = try await world.signIn.erase(id: account.id.rawValue, allowed: .all, waiting: .zero)
        let erased = try await prompt(world) { $0.accountID = account.id.rawValue }
        #expect(erased.refusal?.outcome == .unrecoverable)
        #expect(erased.refusal?.endsWithSignIn == false)
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            _ = try await prompt(world) { $0.accountID = "acc_01a1fbea-fd31-77cb-bae8-b913bd619922" }
        }
    }
}

extension AppFlipPrompt {
    fileprivate var question: LinkQuestion? {
        if case .ask(let question) = self { question } else { nil }
    }

    fileprivate var refusal: (outcome: AppFlipOutcome, endsWithSignIn: Bool)? {
        if case .refused(let response, let endsWithSignIn) = self {
            (response.outcome, endsWithSignIn)
        } else {
            nil
        }
    }
}
