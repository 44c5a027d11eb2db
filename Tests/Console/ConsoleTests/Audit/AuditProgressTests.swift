import AppleAccounts
import StorageConformance
import Synchronization
import TestSupport
import Testing

@testable import Console

/// The page's walk through the audit log, against a hand that changes the database between two looks.
@Suite struct AuditProgressTests {
    /// One change of the stored log, and the fault that names it.
    struct Attack: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fault: AuditVerification.Fault
        /// False if only a process that has seen the log before can find it.
        let isAlwaysFound: Bool
        let change: @Sendable (inout ForgedAudit.Log) -> Void

        init(
            _ name: String, _ code: AuditVerification.Fault.Code, _ sequence: Int64,
            isAlwaysFound: Bool = true, change: @escaping @Sendable (inout ForgedAudit.Log) -> Void
        ) {
            (testDescription, fault) = (name, AuditVerification.Fault(code, at: sequence))
            (self.isAlwaysFound, self.change) = (isAlwaysFound, change)
        }
    }

    static let attacks = [
        Attack("the beginning cut off with the anchor", .anchorUnproven, 5) {
            $0.anchor = $0.rows[4].link
            $0.rows.removeFirst(5)
        },
        Attack("all rows removed with anchor and head", .anchorUnproven, 30) {
            ($0.anchor, $0.rows) = ($0.head, [])
        },
        Attack("the end cut off with the head", .missing, 28, isAlwaysFound: false) {
            $0.rows.removeLast(3)
            $0.head = $0.rows[26].link
        },
        Attack("everything removed, as if it had never been", .missing, 1, isAlwaysFound: false) {
            ($0.rows, $0.head) = ([], .beginning)
        },
        Attack("the end written anew with the head", .expectedMissing, 30, isAlwaysFound: false) {
            $0.rows.removeLast(3)
            $0.append(3, "forged")
        },
        Attack("the end written anew, and longer", .expectedMissing, 34, isAlwaysFound: false) {
            $0.rows.removeLast(3)
            $0.append(7, "forged")
        },
        Attack("an old row changed", .changed, 5) { log in
            log.rows[4] = AuditRow(log.rows[5].entry, link: log.rows[4].link)
        },
        Attack("an old row removed", .missing, 5) { $0.rows.remove(at: 4) },
        Attack("the last row removed", .headDiffers, 30) { $0.rows.removeLast() },
        Attack("a row added behind the head", .headDiffers, 31) { log in
            let head = log.head
            log.append(1, "forged")
            log.head = head
        },
    ]

    @Test(arguments: attacks)
    func `finds what was changed after it was verified, and stays with it`(attack: Attack) async throws {
        let audit = ForgedAudit(30)
        let progress = AuditProgress(audit)
        let before = try await progress.advance(at: 1000)
        #expect(before.state == .verified(upTo: 30, isWhole: true))
        #expect(before.lastWhole == AuditProgress.Whole(moment: 1000, rows: 1...30, anonymous: 0))
        audit.change(attack.change)
        for moment in [2000, 3000] as [Moment] {
            let after = try await progress.advance(at: moment)
            #expect(after.state == .broken(attack.fault))
            #expect(after.lastWhole?.moment == 1000)
        }
    }

    @Test(arguments: attacks.filter(\.isAlwaysFound))
    func `a process that starts after the change finds it`(attack: Attack) async throws {
        let audit = ForgedAudit(30)
        audit.change(attack.change)
        #expect(try await AuditProgress(audit).advance(at: 1000).state == .broken(attack.fault))
    }

    @Test func `reads a long log again when it has reached its end, and finds a row that changed since`()
        async throws
    {
        let step = Int64(AuditProgress.step)
        let audit = ForgedAudit(AuditProgress.step + 1000)
        let progress = AuditProgress(audit)
        var look = try await progress.advance(at: 1000)
        #expect(look.state == .verified(upTo: step, isWhole: false))
        #expect(look.lastWhole == nil)
        look = try await progress.advance(at: 2000)
        #expect(look.state == .verified(upTo: step + 1000, isWhole: true))
        look = try await progress.advance(at: 3000)
        #expect(look.state == .verified(upTo: step, isWhole: false))
        #expect(look.lastWhole?.moment == 2000)
        audit.change { $0.rows[5500] = AuditRow($0.rows[5501].entry, link: $0.rows[5500].link) }
        look = try await progress.advance(at: 4000)
        #expect(look.state == .broken(AuditVerification.Fault(.changed, at: 5501)))
    }

    /// Changes of a log of 6,010 rows, of which 5,000 are verified. The walk began when there were 6,000.
    static let attacksBetweenLooks = [
        Attack("the last row with another content and its own hash", .headDiffers, 6010) {
            let entry = $0.rows[5].entry
            $0.rows[6009] = AuditRow(entry, link: $0.rows[6008].link.next(entry.canonicalBytes))
        },
        Attack("another hash at the head", .headDiffers, 6010) {
            $0.head = AuditLink(sequence: 6010, hash: $0.rows[5].link.hash)
        },
        Attack("a head that is behind the rows", .headDiffers, 6010) { $0.head = $0.rows[6008].link },
        Attack("the end written anew, with a row that was there when the walk began", .headDiffers, 6000) {
            $0.rows.removeLast(11)
            $0.append(11, "forged")
        },
    ]

    @Test(arguments: attacksBetweenLooks)
    func `finds a change of the end between two looks of one walk`(attack: Attack) async throws {
        let audit = ForgedAudit(6000)
        let progress = AuditProgress(audit)
        #expect(try await progress.advance(at: 1000).state == .verified(upTo: 5000, isWhole: false))
        audit.change { $0.append(10, "new") }
        audit.change(attack.change)
        let look = try await progress.advance(at: 2000)
        #expect(look.state == .broken(attack.fault))
        #expect(look.lastWhole == nil)
    }

    @Test func `rows that are written between two looks of one walk are no fault`() async throws {
        let audit = ForgedAudit(6000)
        let progress = AuditProgress(audit)
        #expect(try await progress.advance(at: 1000).state == .verified(upTo: 5000, isWhole: false))
        audit.change { $0.append(10, "new") }
        #expect(try await progress.advance(at: 2000).state == .verified(upTo: 6010, isWhole: true))
    }

    @Test func `goes on with new rows, and counts those whose user was erased`() async throws {
        let store = ReferenceStore()
        let account = try await store.signIn(.sample()).account
        let progress = AuditProgress(store)
        for second in 1...3 as ClosedRange<Int64> {
            try await store.appendAudit([Self.entry(at: second, account.id)])
        }
        #expect(try await progress.advance(at: 1000).lastWhole?.anonymous == 0)
        try await store.erase(.sample(account: account, at: 9_000_000))
        let look = try await progress.advance(at: 2000)
        #expect(look.state == .verified(upTo: 4, isWhole: true))
        #expect(look.lastWhole == AuditProgress.Whole(moment: 2000, rows: 1...4, anonymous: 4))
        #expect(look.chain.head.sequence == 4)
    }

    @Test func `a purge between the chain and its rows is no fault`() async throws {
        let store = ReferenceStore()
        for second in 1...9 as ClosedRange<Int64> { try await store.appendAudit([Self.entry(at: second)]) }
        let reader = PurgingReader(store: store)
        let look = try await AuditProgress(reader).advance(at: 1000)
        #expect(look.state == .verified(upTo: 10, isWhole: true))
        #expect(look.chain.anchor.sequence == 4)
    }

    @Test func `a server that lags behind is no fault`() async throws {
        let audit = ForgedAudit(30)
        let progress = AuditProgress(audit)
        let old = try await audit.auditChain()
        audit.change { $0.append(2, "new") }
        #expect(try await progress.advance(at: 1000).state == .verified(upTo: 32, isWhole: true))
        audit.change { $0.lagging = [old] }
        #expect(try await progress.advance(at: 2000).state == .verified(upTo: 32, isWhole: true))
    }

    @Test func `several operators at the same time share a look`() async throws {
        let audit = ForgedAudit(AuditProgress.step + 1000)
        let progress = AuditProgress(audit)
        try await withThrowingTaskGroup(of: AuditProgress.State.self) { group in
            for _ in 0..<20 { group.addTask { try await progress.advance(at: 1000).state } }
            for try await state in group {
                if case .broken(let fault) = state { Issue.record("\(fault)") }
            }
        }
    }

    private static func entry(at seconds: Int64, _ account: AccountID? = nil) -> AuditEntry {
        AuditEntry(
            .consoleShow, by: .service, at: Moment(seconds: seconds), person: account.map { AuditPerson($0) })
    }
}

/// A log that a test changes at will.
final class ForgedAudit: AuditReader {
    struct Log: Sendable {
        var rows: [AuditRow] = []
        var anchor = AuditLink.beginning
        var head = AuditLink.beginning
        /// Older ends of the chain, which are given first.
        var lagging: [AuditChain] = []

        mutating func append(_ count: Int, _ detail: String) {
            var generator = SeededGenerator(seed: 7)
            head = rows.last?.link ?? anchor
            for _ in 0..<count {
                let entry = SealedAuditEntry(
                    AuditEntry(
                        .consoleShow, by: .service, at: Moment(seconds: head.sequence), detail: detail),
                    using: &generator)
                head = head.next(entry.canonicalBytes)
                rows.append(AuditRow(entry, link: head))
            }
        }
    }

    private let log: Mutex<Log>

    init(_ count: Int) {
        var log = Log()
        log.append(count, "row")
        self.log = Mutex(log)
    }

    func change(_ body: @Sendable (inout Log) -> Void) { log.withLock { body(&$0) } }

    func auditChain() async throws -> AuditChain {
        log.withLock { log in
            log.lagging.popLast() ?? AuditChain(anchor: log.anchor, head: log.head)
        }
    }

    func auditRows(after sequence: Int64, limit: Int) async throws -> [AuditRow] {
        log.withLock { Array($0.rows.lazy.filter { $0.sequence > sequence }.prefix(limit)) }
    }

    func auditRows(before sequence: Int64, of account: AccountID?, limit: Int) async throws -> [AuditRow] {
        log.withLock { Array($0.rows.reversed().lazy.filter { $0.sequence < sequence }.prefix(limit)) }
    }

    func auditSequence(at moment: Moment) async throws -> Int64 { 0 }
}

/// A reader whose store purges its oldest four rows before the first page.
private final class PurgingReader: AuditReader {
    private let store: ReferenceStore
    private let isDone = Mutex(false)

    init(store: ReferenceStore) { self.store = store }

    func auditChain() async throws -> AuditChain { try await store.auditChain() }

    func auditRows(after sequence: Int64, limit: Int) async throws -> [AuditRow] {
        let isFirst = isDone.withLock { isDone in
            defer { isDone = true }
            return !isDone
        }
        if isFirst { _ = try await store.purgeAudit(before: Moment(seconds: 5), at: Moment(seconds: 100)) }
        return try await store.auditRows(after: sequence, limit: limit)
    }

    func auditRows(before sequence: Int64, of account: AccountID?, limit: Int) async throws -> [AuditRow] {
        try await store.auditRows(before: sequence, of: account, limit: limit)
    }

    func auditSequence(at moment: Moment) async throws -> Int64 { try await store.auditSequence(at: moment) }
}
