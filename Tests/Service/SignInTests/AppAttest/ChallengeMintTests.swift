import AppAttestation
import AppleAccounts
import StorageConformance
import Testing

@testable import SignIn

@Suite struct ChallengeMintTests {
    let mint = ChallengeMint(key: .sample())
    let app = AppID.sample()

    private func cause(
        _ text: String, _ purpose: AppAttestChallenge.Purpose = .assertion, of app: AppID = .sample(),
        by mint: ChallengeMint? = nil, at moment: Moment = 999
    ) -> AppCheckCause? {
        do throws(ProofFault) {
            _ = try (mint ?? self.mint).challenge(text, purpose, for: app, at: moment)
            return nil
        } catch {
            return error.cause
        }
    }

    @Test func `accepts its challenge until it expires, and keeps it for longer`() throws {
        let made = mint.mint(.assertion, for: app, expiresAt: 1000)
        #expect(made.text.hasPrefix(AppAttestChallenge.prefix))
        #expect(cause(made.text) == nil)
        #expect(cause(made.text, at: 1000) == .challengeExpired)
        let used = try mint.challenge(made.text, .assertion, for: app, at: 0)
        #expect(used.keptUntil == 302_000)
    }

    @Test func `refuses every other use of a challenge`() {
        let text = mint.mint(.assertion, for: app, expiresAt: 1000).text
        #expect(cause(text, .attestation) == .challengeInvalid)
        #expect(cause(text, of: .sample("com.other")) == .challengeInvalid)
        #expect(cause(text, by: ChallengeMint(key: .sample(8))) == .challengeInvalid)
        #expect(NonceMint(key: .sample()).expiry(of: text) == nil)
        let nonce = NonceMint(key: .sample()).mint(expiresAt: 1000).nonce
        #expect(cause(nonce) == .challengeInvalid)
    }

    @Test func `refuses a challenge with any other byte`() {
        let text = Array(mint.mint(.assertion, for: app, expiresAt: 1000).text.utf8)
        for index in text.indices {
            var changed = text
            changed[index] ^= 1
            #expect(cause(String(decoding: changed, as: UTF8.self)) == .challengeInvalid)
        }
    }

    @Test func `stores the challenges of a bounded number of failed proofs in each window`() {
        let failed = FailedChallenges(most: 3)
        let start = Moment(milliseconds: 1_000_000)
        for number in 0..<3 { #expect(failed.admit(.challenge(number), at: start) != nil) }
        #expect(failed.admit(.challenge(4), at: start) == nil)
        let end = start.advanced(byMilliseconds: FailedChallenges.window)
        #expect(failed.admit(.challenge(5), at: end.advanced(byMilliseconds: -1)) == nil)
        #expect(failed.admit(.challenge(6), at: end) != nil)
    }
}
