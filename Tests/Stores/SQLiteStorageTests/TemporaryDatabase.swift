import AppleAccounts
import Foundation
import GRDB
import Logging
import StorageConformance
import TestSupport
import Testing

@testable import SQLiteStorage

/// A directory of its own for one database, removed at the end.
final class TemporaryDatabase: Sendable {
    private let place: TemporaryDirectory
    var directory: String { place.path }
    var path: String { place.path(of: "siwa.sqlite") }

    init() throws {
        place = try TemporaryDirectory()
    }

    func open(
        patience: Duration = .zero, sealing: any AppleTokenSealing = SampleSealing()
    ) async throws -> SQLiteDatabase {
        try await SQLiteDatabase.open(
            path: path, sealing: sealing, patience: patience, logger: Logger(label: "test"))
    }

    /// Opens, runs and closes.
    func use<Value>(
        sealing: any AppleTokenSealing = SampleSealing(), _ body: (SQLiteDatabase) async throws -> Value
    ) async throws -> Value {
        let database = try await open(sealing: sealing)
        do {
            let value = try await body(database)
            await database.close()
            return value
        } catch {
            await database.close()
            throw error
        }
    }
}

extension TemporaryDatabase {
    /// The numbers of credentials that are not at the place of their users' digests.
    func misplacedCredentials() async throws -> [Int64] {
        try await DatabaseQueue(path: path, configuration: .reading()).read { database in
            try Int64.fetchAll(
                database,
                sql: """
                    SELECT c.id FROM credential c JOIN subject s ON s.id = c.subject_id
                    WHERE c.id NOT BETWEEN first_credential_id(s.key_digest) AND last_credential_id(s.key_digest)
                        OR c.key_check != key_check(s.key_digest)
                    """)
        }
    }
}

enum FileWriting {
    static func write(_ bytes: UnsafeRawBufferPointer, to path: String) -> Bool {
        FileManager.default.createFile(atPath: path, contents: Data(bytes))
    }
}

@Suite struct ConformanceTests {
    @Test(arguments: ConformanceCheck.all)
    func `conforms`(check: ConformanceCheck) async throws {
        let file = try TemporaryDatabase()
        try await file.use { try await check.run($0.accounts) }
        #expect(try await file.misplacedCredentials() == [])
    }

    @Test func `conforms without sealing`() async throws {
        let file = try TemporaryDatabase()
        try await file.use(sealing: NoAppleTokenSealing()) {
            try await ConformanceCheck.withoutSealing.run($0.accounts)
        }
    }
}
