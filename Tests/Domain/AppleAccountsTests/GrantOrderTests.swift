import AppleAccounts
import StorageConformance
import TestSupport
import Testing

/// Apple codes, Apple tokens and Apple's reports about them, in any order.
@Suite struct GrantOrderTests {
    enum Fact: Hashable {
        case signIn(Moment, code: UInt64?)
        case exchange(UInt64, Moment)
        case revocation(Moment)
        case rejection(UInt64, Moment)
    }

    /// The state follows from the accepted facts, in any order: sign-ins with and without code, results of
    /// exchanges, notifications, and rejections of the held token.
    @Test func `end in the state that the facts give, whatever their order`() async throws {
        for seed in 0..<1500 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let facts = Self.facts(using: &generator)
            for _ in 0..<3 {
                let store = ReferenceStore(seed: seed)
                let account = try await store.signIn(.sample(authorizedAt: 1)).account
                var record = CredentialRecord(authorization: Authorization(moment: 1, source: .signIn))
                for fact in facts.shuffled(using: &generator) {
                    try await Self.deliver(fact, of: account, to: store, counting: &record)
                }
                let found = try #require(store.record(.sample())?.credentials.first)
                #expect(found.record.state == record.state, "seed \(seed)")
                #expect(found.record.since == record.since, "seed \(seed)")
                try await Self.expectConsistency(of: found, in: store, "seed \(seed)")
            }
        }
    }

    /// Without rejections, which count only for the held token, nothing depends on the order.
    @Test func `hold the same token after any order of sign-ins, exchanges and revocations`() async throws {
        for seed in 0..<1500 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let facts = Self.facts(using: &generator).filter { fact in
                if case .rejection = fact { false } else { true }
            }
            var expected: [UniqueID]?
            for _ in 0..<4 {
                let store = ReferenceStore(seed: seed)
                let account = try await store.signIn(.sample(authorizedAt: 1)).account
                var record = CredentialRecord()
                for fact in facts.shuffled(using: &generator) {
                    try await Self.deliver(fact, of: account, to: store, counting: &record)
                }
                let tokens = try await store.sealedSecrets(after: nil, limit: 99)
                    .filter { $0.purpose == .refreshToken }.map(\.sealed)
                let held = (1...6 as ClosedRange<UInt64>).filter { tokens.contains(.sample("token \($0)")) }
                let ids = held.map { UniqueID.sample($0) }
                #expect(ids == expected ?? ids, "seed \(seed)")
                expected = ids
            }
        }
    }

    /// Few moments, so that they meet.
    private static func facts(using generator: inout SeededGenerator) -> [Fact] {
        var facts: [Fact] = []
        for number in 1...6 as ClosedRange<UInt64> {
            let moment = Moment(milliseconds: Int64.random(in: 2...9, using: &generator))
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: facts.append(.signIn(moment, code: nil))
            case 1: facts.append(.revocation(moment))
            case 2:
                facts += [.signIn(moment, code: number), .exchange(number, moment)]
                let later = Moment(milliseconds: Int64.random(in: 2...9, using: &generator))
                facts.append(.rejection(number, later))
            default: facts += [.signIn(moment, code: number), .exchange(number, moment)]
            }
        }
        return facts
    }

    private static func deliver(
        _ fact: Fact, of account: Account, to store: ReferenceStore, counting record: inout CredentialRecord
    ) async throws {
        let command: AccountCommand =
            switch fact {
            case .signIn(let moment, let code):
                .signIn(.sample(authorizedAt: moment, authorizationCode: code.map { .sample($0) }))
            case .exchange(let number, let moment):
                .finishExchange(.sample(code: number, account: account, token: number, authorizedAt: moment))
            case .revocation(let moment): .notification(.sample(at: moment))
            case .rejection(let number, let moment):
                .rejectRefreshToken(.sample(token: number, account: account, at: moment))
            }
        let token = store.token(fact)
        let result = try await store.commit([command]).results[0]
        switch (fact, result) {
        case (.signIn(let moment, _), .done): record.merge(Authorization(moment: moment, source: .signIn))
        case (.revocation(let moment), _):
            record.merge(Revocation(moment: moment, reason: .consentRevoked, source: .notification))
        case (.rejection(_, let moment), .done(.refreshTokenRejected(.revoked))):
            let since = max(moment, token ?? moment)
            record.merge(Revocation(moment: since, reason: .refreshTokenRejected, source: .dailyCheck))
        default: break
        }
    }

    /// The status matches the stored codes and tokens, and nothing that a revocation has ended is kept.
    private static func expectConsistency(
        of credential: AppCredential, in store: ReferenceStore, _ comment: Comment
    ) async throws {
        let rows = try await store.sealedSecrets(after: nil, limit: 99)
        let hasToken = rows.contains { $0.purpose == .refreshToken }
        let hasCode = rows.contains { $0.purpose == .authorizationCode }
        switch credential.refreshToken {
        case .held: #expect(hasToken, comment)
        case .pending: #expect(hasCode && !hasToken, comment)
        case .unavailable, nil: #expect(!hasCode && !hasToken, comment)
        }
        let tokens = try await store.claimChecks(
            limit: 99, at: .last, nextAfter: .last, jitterMilliseconds: 1)
        for token in tokens {
            #expect(credential.record.admits(authorizationAt: token.authorizedAt), comment)
        }
        #expect(tokens.count <= 1, comment)
    }
}

extension ReferenceStore {
    /// The moment at which the rejected token was authorized.
    fileprivate func token(_ fact: GrantOrderTests.Fact) -> Moment? {
        guard case .rejection(let number, _) = fact else { return nil }
        return heldToken(.sample(number))?.authorizedAt
    }
}

@Suite struct LastWriterTests {
    @Test func `keeps the value of the later moment whichever comes first`() {
        let early = LastWriter("early", at: 1)
        let late = LastWriter("late", at: 2)
        #expect(early.merged(with: late) == late)
        #expect(late.merged(with: early) == late)
        #expect(late.merged(with: nil) == late)
    }

    @Test func `keeps the greater value of one moment`() {
        let enabled = LastWriter(EmailForwarding.enabled, at: 5)
        let disabled = LastWriter(EmailForwarding.disabled, at: 5)
        #expect(enabled.merged(with: disabled).value == .disabled)
        #expect(disabled.merged(with: enabled).value == .disabled)
    }

    @Test func `moves its moment when the same value is confirmed`() {
        let register = LastWriter("same", at: 1).merged(with: LastWriter("same", at: 9))
        #expect(register.moment == 9)
        #expect(register.merged(with: LastWriter("other", at: 5)).value == "same")
    }

    @Test func `tells addresses of different bytes apart`() {
        // Canonically equivalent: Swift's String calls them equal, the databases do not.
        let composed = LastWriter(EmailAddress.sample("caf\u{E9}@example.com"), at: 1)
        let decomposed = LastWriter(EmailAddress.sample("cafe\u{301}@example.com"), at: 1)
        #expect(composed != decomposed)
        #expect(composed.merged(with: decomposed) == decomposed.merged(with: composed))
    }

    @Test func `merges commutatively, associatively and idempotently`() {
        for seed in 0..<5000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            func register() -> LastWriter<Int> {
                LastWriter(
                    Int.random(in: 0...3, using: &generator),
                    at: Moment(milliseconds: Int64.random(in: 0...3, using: &generator)))
            }
            let (a, b, c) = (register(), register(), register())
            #expect(a.merged(with: b) == b.merged(with: a), "seed \(seed)")
            #expect(a.merged(with: b).merged(with: c) == a.merged(with: b.merged(with: c)), "seed \(seed)")
            #expect(a.merged(with: b).merged(with: b) == a.merged(with: b), "seed \(seed)")
            #expect(a.merged(with: a) == a, "seed \(seed)")
        }
    }

    @Test func `is the same after any order and number of writes`() {
        for seed in 0..<2000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let writes = (0..<6).map { _ in
                LastWriter(
                    Int.random(in: 0...3, using: &generator),
                    at: Moment(milliseconds: Int64.random(in: 0...4, using: &generator)))
            }
            let expected = writes.max { ($0.moment, $0.value) < ($1.moment, $1.value) }
            let deliveries = (writes + writes.shuffled(using: &generator).prefix(3)).shuffled(
                using: &generator)
            let result = deliveries.dropFirst().reduce(deliveries[0]) { $0.merged(with: $1) }
            #expect(result == expected, "seed \(seed)")
        }
    }
}
