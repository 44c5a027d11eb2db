import AppleAccounts
import Cryptography
import Encodings
import StorageConformance
import TestSupport
import Testing

@Suite struct CredentialRecordTests {
    enum Fact: Hashable {
        case authorization(Authorization)
        case revocation(Revocation)
    }

    @Test func `is not found while nothing is known`() {
        let record = CredentialRecord()
        #expect(record.state == .notFound)
        #expect(record.reason == nil)
        #expect(record.source == nil)
        #expect(record.since == nil)
        #expect(record.admits(authorizationAt: 0))
    }

    @Test func `is authorized by a sign-in`() {
        let record = CredentialRecord(authorization: Authorization(moment: 5, source: .signIn))
        #expect(record.state == .authorized)
        #expect(record.reason == .signedIn)
        #expect(record.source == .signIn)
        #expect(record.since == 5)
    }

    @Test(arguments: [(4, .authorized), (5, .revoked), (6, .revoked)] as [(Moment, CredentialState)])
    func `is authorized only if the authorization is strictly later`(
        revokedAt: Moment, expected: CredentialState
    ) {
        let record = CredentialRecord(
            authorization: Authorization(moment: 5, source: .signIn),
            revocation: Revocation(moment: revokedAt, reason: .consentRevoked, source: .notification))
        #expect(record.state == expected)
    }

    @Test func `tells the reason of the revocation`() {
        let record = CredentialRecord(
            authorization: Authorization(moment: 5, source: .signIn),
            revocation: Revocation(moment: 9, reason: .refreshTokenRejected, source: .dailyCheck))
        #expect(record.reason == .refreshTokenRejected)
        #expect(record.source == .dailyCheck)
        #expect(record.since == 9)
    }

    @Test(arguments: [(8, false), (9, false), (10, true)] as [(Moment, Bool)])
    func `admits only what was authorized after the revocation`(moment: Moment, expected: Bool) {
        let record = CredentialRecord(
            authorization: Authorization(moment: 20, source: .signIn),
            revocation: Revocation(moment: 9, reason: .consentRevoked, source: .notification))
        #expect(record.admits(authorizationAt: moment) == expected)
    }

    @Test func `prefers the more final of two reasons of one moment`() {
        var record = CredentialRecord()
        record.merge(Revocation(moment: 9, reason: .appleAccountDeleted, source: .notification))
        record.merge(Revocation(moment: 9, reason: .consentRevoked, source: .notification))
        #expect(record.reason == .appleAccountDeleted)
    }

    @Test func `is the same after any order and number of deliveries`() {
        for seed in 0..<4000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let facts = Self.facts(using: &generator)
            let expected = Self.oracle(facts)
            for _ in 0..<4 {
                var deliveries = facts
                for _ in 0..<Int.random(in: 0...6, using: &generator) {
                    deliveries.append(facts[Int.random(in: 0..<facts.count, using: &generator)])
                }
                deliveries.shuffle(using: &generator)
                var record = CredentialRecord()
                for fact in deliveries { record.take(fact) }
                #expect(record == expected.record, "seed \(seed)")
                #expect(record.state == expected.state, "seed \(seed)")
            }
        }
    }

    @Test func `merges commutatively, associatively and idempotently`() {
        for seed in 0..<3000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let (a, b, c) = (
                Self.record(using: &generator), Self.record(using: &generator), Self.record(using: &generator)
            )
            #expect(a.merging(b) == b.merging(a), "seed \(seed)")
            #expect(a.merging(b).merging(c) == a.merging(b.merging(c)), "seed \(seed)")
            #expect(a.merging(b).merging(b) == a.merging(b), "seed \(seed)")
            #expect(a.merging(CredentialRecord()) == a, "seed \(seed)")
        }
    }

    /// Few moments, so that ties are frequent.
    private static func facts(using generator: inout SeededGenerator) -> [Fact] {
        (0..<Int.random(in: 1...6, using: &generator)).map { _ in
            let moment = Moment(milliseconds: Int64.random(in: 1...4, using: &generator))
            let source = CredentialSource.allCases[Int.random(in: 0..<4, using: &generator)]
            guard Bool.random(using: &generator) else {
                return .authorization(Authorization(moment: moment, source: source))
            }
            let reason = CredentialReason.allCases[Int.random(in: 1..<5, using: &generator)]
            return .revocation(Revocation(moment: moment, reason: reason, source: source))
        }
    }

    private static func record(using generator: inout SeededGenerator) -> CredentialRecord {
        var record = CredentialRecord()
        for fact in facts(using: &generator).prefix(Int.random(in: 0...3, using: &generator)) {
            record.take(fact)
        }
        return record
    }

    /// The rule as the design words it, on all facts at once.
    private static func oracle(_ facts: [Fact]) -> (record: CredentialRecord, state: CredentialState) {
        var authorizations: [Authorization] = []
        var revocations: [Revocation] = []
        for fact in facts {
            switch fact {
            case .authorization(let authorization): authorizations.append(authorization)
            case .revocation(let revocation): revocations.append(revocation)
            }
        }
        let latestAuthorization = authorizations.map(\.moment).max()
        let latestRevocation = revocations.map(\.moment).max()
        let state: CredentialState =
            switch (latestAuthorization, latestRevocation) {
            case (nil, nil): .notFound
            case (.some(let authorization), .some(let revocation)) where authorization <= revocation: .revoked
            case (nil, .some): .revoked
            case (.some, _): .authorized
            }
        return (CredentialRecord(authorization: authorizations.max(), revocation: revocations.max()), state)
    }
}

extension CredentialRecord {
    fileprivate mutating func take(_ fact: CredentialRecordTests.Fact) {
        switch fact {
        case .authorization(let authorization): merge(authorization)
        case .revocation(let revocation): merge(revocation)
        }
    }

    fileprivate func merging(_ other: CredentialRecord) -> CredentialRecord {
        var result = self
        result.merge(other)
        return result
    }
}

@Suite struct NamesTests {
    @Test(arguments: [("K", "\u{212A}"), ("\u{E9}", "e\u{301}"), ("a\u{323}\u{307}", "a\u{307}\u{323}")])
    func `compare their bytes`(left: String, right: String) throws {
        // The trap itself: the standard library calls them equal.
        #expect(left == right)
        let (one, other) = (try #require(AppleSubject(left)), try #require(AppleSubject(right)))
        #expect(one != other)
        #expect((one < other) != (other < one))
        #expect(Set([one, other, one]).count == 2)
        #expect(try #require(ClientID(left)) != #require(ClientID(right)))
        #expect(try #require(TeamID(left)) != #require(TeamID(right)))
    }

    @Test(arguments: ["", "a\u{0}b", "a\n", "\u{7F}", "a\u{85}b", String(repeating: "x", count: 256)])
    func `refuse what is no name`(text: String) {
        #expect(AppleSubject(text) == nil)
        #expect(ClientID(text) == nil)
        #expect(TeamID(text) == nil)
        #expect(InboxIdentifier(text) == nil)
    }

    @Test(arguments: [
        "x", "001999.abc.0123", "it's; DROP TABLE subject", "ÿ\u{A0}",
        String(repeating: "\u{1F600}", count: 255),
    ])
    func `take everything else as it is`(text: String) { #expect(AppleSubject(text)?.rawValue == text) }

    @Test func `spell an account ID in one way`() throws {
        let id = AccountID(UniqueID(high: 0x0193_A5E0_7C00_7ABC, low: 0x8DEF_0123_4567_89AB))
        #expect(id.rawValue == "acc_0193a5e0-7c00-7abc-8def-0123456789ab")
        #expect(AccountID(id.rawValue) == id)
        #expect(EventID("evt_0193a5e0-7c00-7abc-8def-0123456789ab")?.uniqueID == id.uniqueID)
    }

    @Test(arguments: [
        "", "acc_", "acc_0193a5e0-7c00-7abc-8def-0123456789a", "acc_0193A5E0-7C00-7ABC-8DEF-0123456789AB",
        "acc_0193a5e07c007abc8def0123456789ab0000", "evt_0193a5e0-7c00-7abc-8def-0123456789ab",
        "acc_0193a5e0-7c00-7abc-8def-0123456789ag", "acc_0193a5e0+7c00-7abc-8def-0123456789ab",
        " acc_0193a5e0-7c00-7abc-8def-0123456789ab",
    ])
    func `refuse any other spelling of an account ID`(text: String) { #expect(AccountID(text) == nil) }

    @Test func `make UUIDs of version 7 that sort by time`() {
        var generator = SeededGenerator(seed: 9562)
        var previous: UInt64 = 0
        for milliseconds in stride(from: 1_795_222_254_000 as Int64, to: 1_795_222_255_000, by: 10) {
            let id = UniqueID(at: Moment(milliseconds: milliseconds), using: &generator)
            #expect(id.high >> 16 == UInt64(milliseconds))
            #expect(id.high >> 12 & 0xF == 7)
            #expect(id.low >> 62 == 2)
            #expect(id.high > previous)
            previous = id.high
        }
    }
}

@Suite struct TombstoneNameTests {
    @Test func `names a tombstone as no sub can be named`() {
        let key = SubjectKey(team: "A1B2C3D4E5", subject: "001999.abc.0123")
        #expect(key.tombstoneName.utf8.count == 65)
        #expect(AppleSubject(String(key.tombstoneName)) == nil)
        let digest = SHA256Digest.hash("A1B2C3D4E5\n001999.abc.0123")
        #expect(key.tombstoneName.hasSuffix(Hexadecimal.encode(digest)))
    }
}
