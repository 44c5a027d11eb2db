public import AppleAccounts
import Foundation
import GRDB

extension SQLiteAccountStore: NonceKeyStore {
    public func nonceKey(offering candidate: NonceKey) async throws -> NonceKey {
        try await writer.run { database in
            try database.execute(
                sql: "INSERT INTO nonce_key (id, bytes) VALUES (1, :bytes) ON CONFLICT (id) DO NOTHING",
                arguments: ["bytes": Data(candidate.bytes)])
            let bytes = try Data.fetchOne(database, sql: "SELECT bytes FROM nonce_key WHERE id = 1")
            guard let key = bytes.flatMap({ NonceKey(Array($0)) }) else {
                throw StorageError(
                    .corrupted,
                    detail:
                        "expected the nonce key that was just stored, found none of 32 bytes; restore a backup"
                )
            }
            return key
        }
    }

    public func purgeNonces(expiredBefore moment: Moment) async throws -> Int {
        try await writer.run { database in
            try database.execute(
                sql: """
                    DELETE FROM used_nonce WHERE digest IN (
                        SELECT digest FROM used_nonce WHERE kept_until < :end ORDER BY kept_until LIMIT :limit)
                    """,
                arguments: ["end": moment.milliseconds, "limit": Self.largestPurge])
            return database.changesCount
        }
    }
}
