import AppleAccounts
import AuthorizationServer

extension TracedUser {
    /// Gives OAuth clients every value that they can have about the user.
    static func link(_ account: Account, in store: some AuthorizationStore) async throws {
        let subject = "trace-google-account"
        let challenge = "trace-challenge-" + String(repeating: "x", count: 27)
        try await store.carryOut(
            .googleEvent(
                .sample(.enable(googleSubject: subject, at: 5999), jti: "trace-event", receivedAt: 5999)))
        try await store.carryOut(
            .assertion(
                .sample(
                    1, account: account.id, subject: subject, match: .email("trace-mail@example.com"),
                    assertedAt: 6000, at: 6000)))
        for number in 2...3 as ClosedRange<UInt64> {
            try await store.authorize(
                .sample(
                    number, account: account.id,
                    challenge: CodeRecord.StoredChallenge(text: challenge, isPlain: true),
                    scope: "openid trace-scope", nonce: "trace-nonce", authenticatedAt: 5500,
                    at: Moment(milliseconds: 6000 + Int64(number))))
        }
        try await store.redeem(.sample(2, verifier: challenge, at: 6010))
        try await store.refresh(.sample(SampleToken(family: 2), at: 6020))
    }
}
