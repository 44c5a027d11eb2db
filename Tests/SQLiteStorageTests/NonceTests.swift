import AppleAccounts
import Foundation
import GRDB
import StorageConformance
import Testing

@testable import SQLiteStorage

@Suite struct NonceTests {
    let file: TemporaryDatabase

    init() throws {
        file = try TemporaryDatabase()
    }

    @Test func `uses up a nonce that an earlier version stored, once`() async throws {
        try await file.use { database in
            let store = database.accounts
            let digest = NonceDigest.sample(1)
            try await store.writer.run { database in
                try database.execute(
                    sql: "INSERT INTO nonce (digest, expires_at, is_used) VALUES (?, 9000000, 0)",
                    arguments: [Data(digest.bytes)])
            }
            try await store.signIn(.sample(nonce: .unproven(digest)))
            for nonce in [.unproven(digest), .carried(digest)] as [SignInNonce] {
                await #expect(throws: AccountRefusal(.nonceUsed)) {
                    try await store.signIn(.sample(nonce: nonce))
                }
            }
            let end = Moment(milliseconds: 9_000_000 + NonceRecord.keptAfterExpiry)
            #expect(try await store.purgeNonces(expiredBefore: end) == 0)
            #expect(try await store.purgeNonces(expiredBefore: end.advanced(byMilliseconds: 1)) == 1)
        }
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
