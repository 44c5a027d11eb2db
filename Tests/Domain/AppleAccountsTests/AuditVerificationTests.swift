import Cryptography
import StorageConformance
import Synchronization
import TestSupport
import Testing

@testable import AppleAccounts

/// The chain of the audit log against a hand that changes the database.
@Suite struct AuditVerificationTests {
    /// Ten rows, of which the fourth was written by a purge of the first two, and the ends of their chain.
    private static let written: (rows: [AuditRow], chain: AuditChain) = {
        var generator = SeededGenerator(seed: 7)
        var rows: [AuditRow] = []
        for number in 1...10 as ClosedRange<Int64> {
            let anchor = rows.dropFirst().first?.link ?? .beginning
            let entry =
                number == 4
                ? AuditPurge.entry(upTo: anchor, at: 4000)
                : AuditEntry(
                    .consoleShow, by: AuditOrigin(.consoleOperator("ops"), requestID: "r-\(number)"),
                    at: Moment(milliseconds: number * 1000), detail: "detail",
                    person: AuditPerson(AccountID(.sample(UInt64(number))), scope: "openid"))
            let sealed = SealedAuditEntry(entry, using: &generator)
            rows.append(AuditRow(sealed, link: (rows.last?.link ?? .beginning).next(sealed.canonicalBytes)))
        }
        let head = rows[9].link
        return (rows, AuditChain(anchor: .beginning, head: head))
    }()

    /// One change of the stored rows, and the fault that names it.
    struct Attack: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fault: AuditVerification.Fault?
        let change: @Sendable (inout [AuditRow]) -> Void

        init(
            _ name: String, _ fault: AuditVerification.Fault?,
            change: @escaping @Sendable (inout [AuditRow]) -> Void
        ) { (testDescription, self.fault, self.change) = (name, fault, change) }
    }

    private static func fault(_ code: AuditVerification.Fault.Code, _ sequence: Int64)
        -> AuditVerification.Fault
    { AuditVerification.Fault(code, at: sequence) }

    static let attacks = [
        Attack("nothing", nil) { _ in },
        Attack("another time", fault(.changed, 5)) { $0[4] = $0[4].with(moment: 5001) },
        Attack("another actor", fault(.changed, 5)) { $0[4] = $0[4].with(actor: .service) },
        Attack("another action", fault(.changed, 5)) { $0[4] = $0[4].with(action: .consoleSignIn) },
        Attack("another outcome", fault(.changed, 5)) { $0[4] = $0[4].with(outcome: .refused) },
        Attack("another request", fault(.changed, 5)) { $0[4] = $0[4].with(requestID: "r-6") },
        Attack("another detail", fault(.changed, 5)) { $0[4] = $0[4].with(detail: "detaiL") },
        Attack("no detail", fault(.changed, 5)) { $0[4] = $0[4].with(detail: .some(nil)) },
        Attack("the detail as the reason", fault(.changed, 5)) {
            $0[4] = $0[4].with(reason: "detail", detail: .some(nil))
        },
        Attack("another account", fault(.personChanged, 5)) {
            $0[4] = $0[4].with(account: AccountID(.sample(99)))
        },
        Attack("another account and digest", fault(.changed, 5)) {
            $0[4] = $0[4].with(account: AccountID(.sample(99)), resealing: true)
        },
        Attack("another scope", fault(.personChanged, 5)) { $0[4] = $0[4].with(scope: "openid email") },
        Attack("a first row with its own hash", fault(.changed, 2)) {
            let changed = $0[0].with(detail: "other")
            $0[0] = AuditRow(changed.entry, link: AuditLink.beginning.next(changed.entry.canonicalBytes))
        },
        Attack("a removed row", fault(.missing, 5)) { $0.remove(at: 4) },
        Attack("the first row removed", fault(.missing, 1)) { $0.removeFirst() },
        Attack("the last row removed", fault(.headDiffers, 10)) { $0.removeLast() },
        Attack("all rows removed", fault(.headDiffers, 1)) { $0.removeAll() },
        Attack("two rows in another order", fault(.changed, 5)) { rows in
            let (fifth, sixth) = (rows[4], rows[5])
            rows[4] = AuditRow(sixth.entry, link: AuditLink(sequence: 5, hash: sixth.link.hash))
            rows[5] = AuditRow(fifth.entry, link: AuditLink(sequence: 6, hash: fifth.link.hash))
        },
        Attack("a row twice", fault(.changed, 5)) { $0.insert($0[4], at: 4) },
        Attack("an inserted row, and the later rows renumbered", fault(.changed, 6)) { rows in
            let new = rows[4].with(detail: "forged")
            let link = rows[3].link.next(new.entry.canonicalBytes)
            let rest = rows[4...].map {
                AuditRow($0.entry, link: AuditLink(sequence: $0.sequence + 1, hash: $0.link.hash))
            }
            rows = rows[..<4] + [AuditRow(new.entry, link: link)] + rest
        },
        Attack("a removed row, and the later rows renumbered", fault(.changed, 5)) { rows in
            let rest = rows[5...].map {
                AuditRow($0.entry, link: AuditLink(sequence: $0.sequence - 1, hash: $0.link.hash))
            }
            rows = rows[..<4] + rest
        },
        Attack("a tail that was written anew", fault(.headDiffers, 10)) { rows in
            for index in 8..<10 {
                let changed = index == 8 ? rows[8].with(detail: "forged") : rows[9]
                rows[index] = AuditRow(
                    changed.entry, link: rows[index - 1].link.next(changed.entry.canonicalBytes))
            }
        },
        Attack("an erased person", nil) {
            $0[4] = AuditRow(
                SealedAuditEntry(facts: $0[4].facts, personDigest: $0[4].entry.personDigest, person: nil),
                link: $0[4].link)
        },
        Attack("an erased person with the digest", fault(.changed, 5)) {
            $0[4] = AuditRow(
                SealedAuditEntry(facts: $0[4].facts, personDigest: nil, person: nil), link: $0[4].link)
        },
    ]

    @Test(arguments: attacks) func `names the first row that is not as it was written`(attack: Attack) {
        var rows = Self.written.rows
        attack.change(&rows)
        #expect(Self.fault(of: rows, Self.written.chain) == attack.fault)
    }

    @Test func `finds a log that was written anew by a hash that is kept elsewhere`() {
        var rows: [AuditRow] = []
        for row in Self.written.rows.map({ $0.with(actor: .service) }) {
            rows.append(
                AuditRow(
                    row.entry, link: (rows.last?.link ?? .beginning).next(row.entry.canonicalBytes)))
        }
        let chain = AuditChain(anchor: .beginning, head: rows[9].link)
        #expect(Self.fault(of: rows, chain) == nil)
        let kept = Self.written.rows[6].link.hash
        #expect(
            Self.fault(of: rows, chain, expected: kept) == AuditVerification.Fault(.expectedMissing, at: 10))
        #expect(Self.fault(of: Self.written.rows, Self.written.chain, expected: kept) == nil)
    }

    @Test func `accepts an anchor that a purge has told of, and no other`() {
        let rows = Self.written.rows
        let head = rows[9].link
        #expect(Self.fault(of: rows.dropFirst(2), AuditChain(anchor: rows[1].link, head: head)) == nil)
        let forged = AuditChain(anchor: rows[2].link, head: head)
        #expect(Self.fault(of: rows.dropFirst(3), forged) == AuditVerification.Fault(.anchorUnproven, at: 3))
    }

    @Test func `takes rows that are written during the walk for no fault`() {
        let rows = Self.written.rows
        let before = AuditChain(anchor: .beginning, head: rows[7].link)
        #expect(Self.fault(of: rows, before) == nil)
    }

    /// A third party can verify an export by the page on the audit log, so these bytes never change.
    @Test func `the hash of a row is frozen`() throws {
        var generator = SeededGenerator(seed: 1)
        let entry = AuditEntry(
            .accountDisabled, by: AuditOrigin(.apiKey("backend"), requestID: "r-1"), at: 1_234_567,
            reason: "fraud", oauthClient: OAuthClientID("phone"), detail: "until ü",
            person: AuditPerson(AccountID(.sample(1)), tokenFamily: .sample(2), scope: "openid"))
        let sealed = SealedAuditEntry(entry, using: &generator)
        let person = try #require(sealed.person)
        let known = SealedAuditEntry.StoredPerson(
            account: person.account, tokenFamily: person.tokenFamily, scope: person.scope,
            salt: Array(0..<16))
        let frozen = SealedAuditEntry(facts: sealed.facts, personDigest: known.digest, person: known)
        #expect(
            AuditLink.beginning.hashText == "52d7bde849b5beb711af62bede116a486d7f0ce1e1b99caa46cf8e0ba9c6546b"
        )
        #expect(
            AuditLink.beginning.next(frozen.canonicalBytes).hashText
                == "8ad6e34bae608f712137c1253008d499c88752215f9811ad794f5aa85fb730a0")
    }

    private static func fault(
        of rows: some Sequence<AuditRow>, _ chain: AuditChain, expected: SHA256Digest? = nil
    ) -> AuditVerification.Fault? {
        var verification = AuditVerification(chain, expected: expected)
        do throws(AuditVerification.Fault) {
            for row in rows { try verification.check(row) }
            try verification.finish()
            return nil
        } catch {
            return error
        }
    }
}

extension AuditRow {
    /// The row with other values under the hash that it had.
    fileprivate func with(
        moment: Moment? = nil, actor: AuditActor? = nil, action: AuditAction? = nil,
        outcome: AuditOutcome? = nil, reason: String? = nil, requestID: String? = nil,
        detail: String?? = nil, account: AccountID? = nil, scope: String? = nil, resealing: Bool = false
    ) -> AuditRow {
        let newFacts = AuditFacts(
            moment: moment ?? facts.moment, actor: actor ?? facts.actor, action: action ?? facts.action,
            outcome: outcome ?? facts.outcome, reason: reason ?? facts.reason, oauthClient: facts.oauthClient,
            requestID: requestID ?? facts.requestID, detail: detail ?? facts.detail)
        let person = entry.person.map {
            SealedAuditEntry.StoredPerson(
                account: account ?? $0.account, tokenFamily: $0.tokenFamily, scope: scope ?? $0.scope,
                salt: $0.salt)
        }
        return AuditRow(
            SealedAuditEntry(
                facts: newFacts, personDigest: resealing ? person?.digest : entry.personDigest, person: person
            ),
            link: link)
    }
}

/// A walk through a log that a purge shortens meanwhile.
@Suite struct AuditWalkTests {
    private static let rows: Int64 = 2500

    private static func store() async throws -> ReferenceStore {
        let store = ReferenceStore()
        try await store.appendAudit(
            (1...rows).map {
                AuditEntry(.consoleShow, by: .service, at: Moment(seconds: $0), detail: "row \($0)")
            })
        return store
    }

    @Test func `gives each row once when a purge moves the anchor`() async throws {
        let store = try await Self.store()
        // After the first page of 1000 rows, 900 of them are purged, and a row before the second page is missing.
        let reader = InterruptedReader(store) { store in
            _ = try await store.purgeAudit(before: Moment(seconds: 901), at: Moment(seconds: 9000))
        }
        var given: [Int64] = []
        let verification = try await reader.verifyAudit { given += $0.map(\.sequence) }
        #expect(given == Array(1...Self.rows + 1))
        #expect(verification.firstSequence == 901)
    }

    @Test func `ends with the rows that a purge deleted before they were given`() async throws {
        let store = try await Self.store()
        let purge: @Sendable (ReferenceStore) async throws -> Void = { store in
            while try await store.purgeAudit(before: Moment(seconds: 1801), at: Moment(seconds: 9000)) > 0 {}
        }
        var given: [Int64] = []
        let reader = InterruptedReader(store, purge)
        await #expect(throws: AuditRowsPurged(rows: 1001...1800)) {
            _ = try await reader.verifyAudit { given += $0.map(\.sequence) }
        }
        #expect(given == Array(1...1000))
        // Without a reader of rows the purge is no matter.
        let other = InterruptedReader(try await Self.store(), purge)
        #expect(try await other.verifyAudit().firstSequence == 1801)
    }
}

/// A reader in whose store something happens after the first page, and whose second page has lost its first row.
private final class InterruptedReader: AuditReader {
    private let store: ReferenceStore
    private let event: @Sendable (ReferenceStore) async throws -> Void
    private let pages = Mutex(0)

    init(_ store: ReferenceStore, _ event: @escaping @Sendable (ReferenceStore) async throws -> Void) {
        (self.store, self.event) = (store, event)
    }

    func auditChain() async throws -> AuditChain { try await store.auditChain() }

    func auditRows(after sequence: Int64, limit: Int) async throws -> [AuditRow] {
        let page = pages.withLock { pages in
            pages += 1
            return pages
        }
        if page == 2 { try await event(store) }
        let rows = try await store.auditRows(after: sequence, limit: limit)
        return page == 2 ? Array(rows.dropFirst()) : rows
    }

    func auditRows(before sequence: Int64, of account: AccountID?, limit: Int) async throws -> [AuditRow] {
        try await store.auditRows(before: sequence, of: account, limit: limit)
    }

    func auditSequence(at moment: Moment) async throws -> Int64 { try await store.auditSequence(at: moment) }
}

/// The decision of one step, by the times of the oldest rows.
@Suite struct AuditPurgeTests {
    private static let (old, present, future) = (1000 as Moment, 50_000 as Moment, 900_000 as Moment)
    private static let full = AuditPurge.largestStep

    private static func rows(_ parts: (Int, Moment)...) -> [Moment] {
        parts.flatMap { Array(repeating: $0.1, count: $0.0) }
    }

    private static func step(_ oldest: [Moment], next: () throws -> Moment?) rethrows -> Int {
        try AuditPurge.step(oldest, before: 6000, at: 100_000, next: next)
    }

    /// Oldest rows, and the number of those that a step deletes.
    static let decided: [([Moment], Int)] = [
        ([], 0), ([old], 1), ([present, old], 0), ([future], 0), ([future, present, old], 0),
        ([future, old, future], 2), ([old, future, old, present, old], 3), (rows((full, old)), full),
        (rows((full - 1, old), (1, present)), full - 1), (rows((full - 1, future), (1, old)), full),
        (rows((full - 2, future), (1, old), (1, present)), full - 1),
        (rows((full - 1, future), (1, present)), 0), (rows((full - 1, future)), 0),
    ]

    @Test(arguments: decided)
    func `deletes up to the last old row before the first of the present`(oldest: [Moment], count: Int) {
        let decided = Self.step(oldest) {
            Issue.record("a search")
            return nil
        }
        #expect(decided == count)
    }

    @Test(arguments: [0, 1, 400])
    func `a full step that ends with rows of the future goes by the row behind them`(count: Int) {
        let oldest = Self.rows((count, Self.old), (Self.full - count, Self.future))
        for (next, decided) in [(Self.old, Self.full), (Self.present, count), (nil, count)]
            as [(Moment?, Int)]
        {
            let step = Self.step(oldest) { next }
            #expect(step == decided)
        }
    }

    @Test func `with a clock behind the log no row is old`() {
        let oldest = Self.rows((Self.full, Self.present))
        let step = AuditPurge.step(oldest, before: 0, at: 1000) { nil }
        #expect(step == 0)
    }
}
