import AppleAccounts
import GRDB
import StorageConformance
import Testing

@testable import SQLiteStorage

@Suite struct NonceTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    @Test func `forgets used nonces in steps`() async throws {
        try await file.use { database in
            try await database.accounts.writer.run { database in
                try database.execute(
                    sql: """
                        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
                        INSERT INTO used_nonce (digest, kept_until)
                        SELECT CAST(printf('%032d', i) AS BLOB), 9 FROM n
                        """)
            }
            var counts: [Int] = []
            for _ in 0..<4 { counts.append(try await database.accounts.purgeNonces(expiredBefore: 10)) }
            #expect(counts == [1000, 1000, 500, 0])
        }
    }
}
