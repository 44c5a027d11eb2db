import AppleAccounts
import GRDB
import StorageConformance
import Testing

@testable import SQLiteStorage

@Suite struct AuditPurgeTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    @Test func `a step looks for the end of rows of the future up to its bound`() async throws {
        try await file.use { try await FutureAudit.begin(in: $0.accounts) }
        try await run(FutureAudit.statements)
        #expect(try await purge() == 0)
        try await run(FutureAudit.shortening)
        #expect(try await purge() == AuditPurge.largestStep)
    }

    private func purge() async throws -> Int {
        try await file.use { try await FutureAudit.purge($0.accounts) }
    }

    private func run(_ sql: String) async throws {
        try await DatabaseQueue(path: file.path, configuration: .writing(patience: 5))
            .write { try $0.execute(sql: sql) }
    }
}
