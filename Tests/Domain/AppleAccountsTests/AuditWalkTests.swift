import StorageConformance
import Synchronization
import Testing

@testable import AppleAccounts

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
