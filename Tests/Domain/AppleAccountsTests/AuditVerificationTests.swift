import Cryptography
import StorageConformance
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
            rows.append(
                AuditRow(sealed, link: (rows.last?.link ?? .beginning).next(sealed.canonicalBytes)))
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
        ) {
            (testDescription, self.fault, self.change) = (name, fault, change)
        }
    }

    private static func fault(_ code: AuditVerification.Fault.Code, _ sequence: Int64)
        -> AuditVerification.Fault
    {
        AuditVerification.Fault(code, at: sequence)
    }

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
