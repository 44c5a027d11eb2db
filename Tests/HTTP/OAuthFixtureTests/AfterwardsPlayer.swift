import TestSupport
import Testing

@testable import OAuthFixtures

/// Finds the effects of a token request on its code and tokens, with requests of a client and an app's
/// backend.
struct AfterwardsPlayer {
    let service: PlayedService
    let given: GivenTokens

    private enum Word: String {
        /// Valid.
        case good
        /// Valid only after the next sign-in.
        case suspended
        /// The code was redeemed.
        case used
        /// Invalid, also after a sign-in.
        case ended
    }

    func play(_ afterwards: TokenCase.Afterwards?) async throws {
        let isSeen = given.redemption != nil || !given.tokens.isEmpty
        guard let afterwards else {
            #expect(!isSeen || given.account == nil, "the file does not say what has become of it")
            return
        }
        #expect((afterwards.tokens == nil) == given.tokens.isEmpty)
        #expect((afterwards.code == nil) == (given.redemption == nil))
        let tokens = try afterwards.tokens.map { try #require(Word(rawValue: $0)) }
        let code = try afterwards.code.map { try #require(Word(rawValue: $0)) }
        // A code is tried last: that can end what it gave.
        if let tokens { try await expectTokens(are: tokens == .good) }
        if let code { try await expectCode(is: code == .good) }
        guard let user = given.user, tokens != .good, code != .good, code != .used else { return }
        service.clock.advance(by: .seconds(10))
        try await user.signIn()
        if let tokens { try await expectTokens(are: tokens == .suspended) }
        if let code { try await expectCode(is: code == .suspended) }
    }

    /// Checks by introspection (RFC 7662) if the tokens are active.
    private func expectTokens(are isGood: Bool) async throws {
        for token in given.tokens {
            let response = try await service.post(
                "/oauth/introspect", ["token": token],
                ["Authorization": "Bearer \(FixtureDeployment.secret(of: nil))"])
            #expect(response.status == 200)
            #expect(try response.object()["active"] as? Bool == isGood, "\(token.prefix(8))")
        }
    }

    /// Checks the code with a valid request: other requests do not show the state of a code.
    private func expectCode(is isGood: Bool) async throws {
        let response = try await service.post("/oauth/token", try #require(given.redemption))
        #expect(response.status == (isGood ? 200 : 400), "\(response.text)")
        if !isGood { #expect(try response.object()["error"] as? String == "invalid_grant") }
    }
}
