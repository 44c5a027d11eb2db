public import AppleAccounts
public import AuthorizationServer
import Foundation
import GRDB
import SQLTables

// Keys that sign tokens.
extension SQLiteAccountStore {
    private static let insertKey = Insertion<SigningKeyTable>()

    public func signingKeys() async throws -> [SigningKeyRecord] {
        try await reader.read { try $0.oauth().signingKeys() }
    }

    public func offerSigningKey(
        _ key: SigningKeyRecord, unlessMadeAfter moment: Moment
    ) async throws -> [SigningKeyRecord] {
        try await writer.write { writer in
            let database = writer.database
            do {
                let isThere = try Bool.fetchOne(
                    database,
                    sql: """
                        SELECT EXISTS (SELECT 1 FROM signing_key
                            WHERE key_id = :key OR (algorithm = :algorithm AND created_at >= :moment))
                        """,
                    arguments: [
                        "key": key.keyID, "algorithm": key.algorithm, "moment": moment.milliseconds,
                    ])
                guard isThere != true else { return }
                try Self.insertKey.run(in: database) { $0.write(key, to: $1) }
                try writer.appendAudit([key.auditEntry])
            }
        }
        return try await signingKeys()
    }

    public func replaceSealed(_ key: SigningKeyRecord, with sealed: SealedSecret) async throws -> Bool {
        try await writer.run { database in
            try database.execute(
                sql: "UPDATE signing_key SET sealed = :new WHERE key_id = :key AND sealed = :old",
                arguments: [
                    "new": Data(sealed.bytes), "key": key.keyID, "old": Data(key.sealed.bytes),
                ])
            return database.changesCount > 0
        }
    }

    public func removeSigningKey(
        _ key: SigningKeyRecord, by origin: AuditOrigin, at moment: Moment
    ) async throws -> Bool {
        try await writer.write { writer in
            try writer.database.execute(
                sql: "DELETE FROM signing_key WHERE key_id = :key AND sealed = :sealed",
                arguments: ["key": key.keyID, "sealed": Data(key.sealed.bytes)])
            guard writer.database.changesCount > 0 else { return false }
            try writer.appendAudit([SigningKeyRecord.removalEntry(of: [key.keyID], by: origin, at: moment)])
            return true
        }
    }

    public func removeSigningKeys(retiredBefore moment: Moment) async throws -> Int {
        try await writer.write { writer in
            let keyIDs = try String.fetchAll(
                writer.database, sql: "DELETE FROM signing_key WHERE retires_at < :end RETURNING key_id",
                arguments: ["end": moment.milliseconds])
            guard !keyIDs.isEmpty else { return 0 }
            try writer.appendAudit([SigningKeyRecord.removalEntry(of: keyIDs, at: moment)])
            return keyIDs.count
        }
    }
}
