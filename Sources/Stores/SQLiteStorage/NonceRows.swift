public import AppleAccounts
import Foundation
import GRDB
import SQLTables

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

/// The nonces that sign-ins have used up, by their digests.
final class NonceRows {
    private let find: PreparedStatement
    private let digest: Parameter<NonceDigest>
    private let insert: PreparedStatement
    private let columns: UsedNonceTable

    init(in database: Database) throws {
        var parameters = ParameterList()
        digest = parameters.add(NonceDigest.self)
        find = try PreparedStatement("SELECT 1 FROM used_nonce WHERE digest = \(digest)", in: database)
        let insertion = Insertion<UsedNonceTable>()
        columns = insertion.columns
        insert = try PreparedStatement(insertion.sql, in: database)
    }

    func load(_ digest: NonceDigest, into set: inout WorkingSet) throws {
        find.begin()
        find.bind(digest, to: self.digest)
        defer { find.finish() }
        if try find.step() { set.load(usedNonce: digest) }
    }

    func save(_ set: WorkingSet) throws {
        for nonce in set.usedNonces {
            insert.begin()
            insert.set(columns.digest, nonce.digest)
            insert.set(columns.keptUntil, nonce.keptUntil)
            try insert.execute()
        }
    }
}
