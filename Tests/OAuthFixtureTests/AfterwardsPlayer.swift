import TestSupport
import Testing

@testable import OAuthFixtures

/// Finds out what a token request did to its code and tokens, by what a client and an app's backend can see.
struct AfterwardsPlayer {
    let service: PlayedService
    let given: GivenTokens

    private enum Word: String {
        /// Good now.
        case good
        /// Good after the next sign-in only.
        case suspended
        /// The code was redeemed.
        case used
        /// Not good, and a sign-in does not change it.
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
        guard let person = given.person, tokens != .good, code != .good, code != .used else { return }
        service.clock.advance(by: .seconds(10))
        try await person.signIn()
        if let tokens { try await expectTokens(are: tokens == .suspended) }
        if let code { try await expectCode(is: code == .suspended) }
    }

    /// RFC 7662 says whether a token is good.
    private func expectTokens(are isGood: Bool) async throws {
        for token in given.tokens {
            let response = try await service.post(
                "/oauth/introspect", ["token": token],
                ["Authorization": "Bearer \(FixtureDeployment.secret(of: nil))"])
            #expect(response.status == 200)
            #expect(try response.object()["active"] as? Bool == isGood, "\(token.prefix(8))")
        }
    }

    /// Only a request that keeps every rule shows what a code is.
    private func expectCode(is isGood: Bool) async throws {
        let response = try await service.post("/oauth/token", try #require(given.redemption))
        #expect(response.status == (isGood ? 200 : 400), "\(response.text)")
        if !isGood { #expect(try response.object()["error"] as? String == "invalid_grant") }
    }
}
