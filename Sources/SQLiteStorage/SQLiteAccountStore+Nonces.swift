public import AppleAccounts
import Foundation
import GRDB

extension SQLiteAccountStore: NonceKeyStore {
    public func nonceKey(offering candidate: NonceKey) async throws -> NonceKey {
        try await writer.run { database in
            try database.execute(
                sql: "INSERT INTO nonce_key (id, bytes) VALUES (1, ?) ON CONFLICT (id) DO NOTHING",
                arguments: [Data(candidate.bytes)])
            let bytes = try Data.fetchOne(database, sql: "SELECT bytes FROM nonce_key WHERE id = 1")
            guard let key = bytes.flatMap({ NonceKey(Array($0)) }) else {
                throw StorageError(.corrupted, detail: "there is no nonce key")
            }
            return key
        }
    }

    public func purgeNonces(expiredBefore moment: Moment) async throws -> Int {
        try await writer.run { database in
            try database.execute(
                sql: """
                    DELETE FROM used_nonce WHERE digest IN (
                        SELECT digest FROM used_nonce WHERE kept_until < ? ORDER BY kept_until LIMIT ?)
                    """,
                arguments: [moment.milliseconds, Self.largestPurge])
            let count = database.changesCount
            try database.execute(
                sql: """
                    DELETE FROM nonce WHERE digest IN (
                        SELECT digest FROM nonce WHERE expires_at < ? ORDER BY expires_at LIMIT ?)
                    """,
                arguments: [
                    moment.advanced(byMilliseconds: -NonceRecord.keptAfterExpiry).milliseconds,
                    Self.largestPurge,
                ])
            return count + database.changesCount
        }
    }
}
