import AppleIdentity
import KeySets
import TestSupport
import Testing

@Suite struct TokenCaseTests {
    static let keySets = FixtureFolder("key-sets")

    @Test(arguments: try FixtureFolder("identity-tokens").files(of: TokenCase.self))
    func `judges an identity token as its file says`(file: FixtureFile<TokenCase>) async throws {
        let tokenCase = file.content
        #expect(tokenCase.kind == .identityToken)
        let verifier = IdentityTokenVerifier(policy: tokenCase.policy)
        try await expect(tokenCase, finds: tokenCase.identity) {
            IdentityFacts(
                try await verifier.verify(
                    tokenCase.compact, keys: try keys(of: tokenCase),
                    expecting: tokenCase.identityExpectations,
                    at: try tokenCase.at.date()))
        }
    }

    @Test(arguments: try FixtureFolder("notifications").files(of: TokenCase.self))
    func `judges a notification as its file says`(file: FixtureFile<TokenCase>) async throws {
        let tokenCase = file.content
        #expect(tokenCase.kind == .notification)
        let verifier = NotificationVerifier(policy: tokenCase.policy)
        try await expect(tokenCase, finds: tokenCase.notification) {
            NotificationFacts(
                try await verifier.verify(
                    tokenCase.compact, keys: try keys(of: tokenCase), at: try tokenCase.at.date()))
        }
    }

    private func keys(of tokenCase: TokenCase) throws -> PinnedKeySet {
        try PinnedKeySet(parsing: try Self.keySets.bytes(of: tokenCase.keySet))
    }

    private func expect<Facts: Equatable>(
        _ tokenCase: TokenCase, finds expected: Facts?, verify: () async throws -> Facts
    ) async throws {
        do {
            let facts = try await verify()
            #expect(tokenCase.verdict == .accepted, "\(tokenCase.summary)")
            #expect(facts == expected, "\(tokenCase.summary)")
        } catch let refusal as AppleTokenError {
            #expect(tokenCase.verdict == .refused, "\(tokenCase.summary) \(refusal.debugDescription)")
            #expect(refusal.code.rawValue == tokenCase.code, "\(tokenCase.summary)")
        }
    }
}
