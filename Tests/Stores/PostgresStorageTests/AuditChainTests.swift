import AppleAccounts
import AuthorizationServer
import PostgresCluster
import SQLTables
import StorageConformance
import TestSupport
import Testing

@testable import PostgresStorage

/// The chain of the audit log with several replicas, whose transactions are slow or are rolled back.
@Suite struct AuditChainTests {
    private static let rounds = 2000
    private static let workers = 6

    @Test func `is one chain without gap after 2,000 rounds at two replicas`() async throws {
        try await Replicas.with { replicas in
            let done = try await replicas.play(Self.rounds, workers: Self.workers) {
                try await Self.play($0, in: replicas)
            }
            for store in replicas.stores {
                let rows = try await store.verifiedAudit()
                #expect(rows.count == done.reduce(0, +))
                #expect(rows.map(\.sequence) == Array(1...Int64(rows.count)))
                #expect(try await store.auditChain().head == rows.last?.link)
            }
        }
    }

    /// Returns the number of rows that the round writes.
    private static func play(_ number: Int, in replicas: Replicas) async throws -> Int {
        let (here, there) = number % 2 == 0 ? (0, 1) : (1, 0)
        let store = replicas.stores[here]
        let key = SubjectKey.sample("user-\(number)")
        let account = try await store.signIn(.sample(key: key)).account
        switch number % 5 {
        case 0:
            // A grant and its tokens, and their end at the other replica.
            let grant = try await store.link(UInt64(number) + 1, key: key)
            try await replicas.stores[there].carryOut(EndGrantCommand.sample(grant.id, of: account.id))
            return 4
        case 1:
            try await store.change(DisableCommand.sample(account))
            try await replicas.stores[there].change(EnableCommand.sample(account))
            return 2
        case 2:
            // A transaction that has its numbers and gives them back.
            try await store.pool.run { session in
                _ = try session.pipeline(
                    [.begin] + AuditAppending([entry(account.id), entry(account.id)]).calls)
                _ = try session.run(.rollback)
            }
            return 0
        case 3:
            try await replicas.stores[there].erase(.sample(UInt64(number) + 1, account: account))
            return 1
        default:
            try await store.appendAudit([entry(account.id), entry(nil), entry(account.id)])
            return 3
        }
    }

    private static func entry(_ account: AccountID?, at moment: Moment = 5000) -> AuditEntry {
        AuditEntry(
            .consoleShow, by: AuditOrigin(.consoleOperator("ops")), at: moment,
            person: account.map { AuditPerson($0) })
    }

    /// New users append events, and must not pay for what is audited elsewhere. An audited change does wait.
    @Test func `a sign-in with events does not wait for a transaction that holds the chain`() async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            let first = try await here.signIn(.sample(key: .sample("first"))).account
            let holder = try LockHolder(replicas.url, "SELECT 1 FROM audit_chain FOR UPDATE")
            #expect(try await there.signIn(.sample(key: .sample("second"))).isNewAccount)
            #expect(
                try await here.signIn(.sample(key: .sample("first"), authorizedAt: 3_000_000)).account.id
                    == first.id)
            let disabling = Task { try await there.change(DisableCommand.sample(first)) }
            try await eventually { try holder.waiters == 1 }
            try holder.release()
            #expect(try await disabling.value.disabling != nil)
            #expect(try await here.verifiedAudit().count == 1)
        }
    }

    @Test func `a step of the purge looks for the end of rows of the future up to its bound`() async throws {
        try await Replicas.with(1) { replicas in
            let (store, cluster) = (replicas.stores[0], try await PostgresCluster.shared())
            try await FutureAudit.begin(in: store)
            _ = try await cluster.superuserQuery(FutureAudit.statements, in: replicas.name)
            #expect(try await FutureAudit.purge(store) == 0)
            _ = try await cluster.superuserQuery(FutureAudit.shortening, in: replicas.name)
            #expect(try await FutureAudit.purge(store) == AuditPurge.largestStep)
        }
    }

    /// Audited changes wait for the end of the chain.
    @Test func `a purge that finds nothing to delete waits for no one and holds nothing`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            // The old row is not at the beginning of the chain.
            try await store.appendAudit([Self.entry(nil, at: 50_000), Self.entry(nil, at: 1000)])
            let holder = try LockHolder(replicas.url, "SELECT 1 FROM audit_chain FOR UPDATE")
            #expect(try await store.purgeAudit(before: 6000, at: 100_000) == 0)
            try holder.release()
        }
    }

    @Test func `erasures, purges and operators who look at one account do not hold each other up`()
        async throws
    {
        try await Replicas.with { replicas in
            let erased = try await replicas.play(300, workers: 6) { number -> Bool in
                let store = replicas.stores[number % 2]
                let key = SubjectKey.sample("user-\(number / 3)")
                switch number % 3 {
                case 0: try await store.signIn(.sample(key: key))
                case 1: try await store.purgeAuditOnce()
                // Only this request erases the user, whose sign-in has begun before it.
                default: try await eventually { try await store.account(key) != nil }
                }
                guard let account = try await store.account(key) else { return false }
                try await store.appendAudit([Self.entry(account.id)])
                guard number % 3 == 2 else { return false }
                try await store.erase(.sample(UInt64(number) + 1, account: account))
                try await store.appendAudit([Self.entry(account.id)])
                return true
            }
            let rows = try await replicas.stores[0].verifiedAudit()
            #expect(erased.count { $0 } == 100)
            for account in Set(rows.compactMap(\.entry.person?.account)) {
                #expect(try await replicas.stores[1].account(account) != nil, "a person who was erased")
            }
        }
    }
}

extension PostgresAccountStore {
    fileprivate func purgeAuditOnce() async throws { _ = try await purgeAudit(before: 4000, at: 6000) }
}
