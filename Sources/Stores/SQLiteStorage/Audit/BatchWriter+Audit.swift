import AppleAccounts
import Cryptography
import Foundation
import GRDB
import SQLTables

// Rare writes of the audit log, inside a transaction. Their statements are not kept.
extension BatchWriter {
    func purgeAudit(before end: Moment, at now: Moment) throws -> Int {
        // Most purges find no old row, and must not read more on the only connection that writes.
        let anyOld = try Row.fetchOne(
            database, sql: "SELECT 1 FROM audit WHERE recorded_at < :end LIMIT 1",
            arguments: ["end": end.milliseconds])
        guard anyOld != nil else { return 0 }
        let oldest = try Row.fetchAll(
            database, sql: "SELECT sequence, hash, recorded_at FROM audit ORDER BY sequence LIMIT :limit",
            arguments: ["limit": AuditPurge.largestStep])
        let moments = oldest.map { Moment(milliseconds: $0["recorded_at"]) }
        let count = try AuditPurge.step(moments, before: end, at: now) {
            try oldest.last.flatMap { try firstPresentOrOld(after: $0["sequence"], before: end, at: now) }
        }
        guard count > 0, let anchor = AuditLink(oldest[count - 1]) else { return 0 }
        try database.execute(
            sql: "DELETE FROM audit WHERE sequence <= :anchor", arguments: ["anchor": anchor.sequence])
        try database.execute(
            sql: "UPDATE audit_chain SET anchor_sequence = :anchor, anchor_hash = :hash WHERE id = 1",
            arguments: ["anchor": anchor.sequence, "hash": Data(anchor.hash.bytes)])
        try appendAudit([AuditPurge.entry(upTo: anchor, at: now)])
        return count
    }

    private func firstPresentOrOld(
        after sequence: Int64, before end: Moment, at now: Moment
    ) throws -> Moment? {
        // The signs keep SQLite from the index by time, which would find all rows.
        try Int64.fetchOne(
            database,
            sql: """
                SELECT recorded_at FROM audit WHERE sequence > :last AND sequence <= :last + :limit
                    AND (+recorded_at <= :now OR +recorded_at < :end)
                ORDER BY sequence LIMIT 1
                """,
            arguments: [
                "last": sequence, "limit": AuditPurge.farthestSearch, "now": now.milliseconds,
                "end": end.milliseconds,
            ]
        ).map { Moment(milliseconds: $0) }
    }

    func noteConfiguration(
        _ fingerprints: [String: String], at moment: Moment
    ) throws -> [ConfigurationChange] {
        var before: [String: String] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT item, fingerprint FROM configuration_fingerprint")
        {
            before[row["item"]] = row["fingerprint"]
        }
        let changes = ConfigurationChange.between(before, fingerprints)
        for change in changes {
            try database.execute(
                sql: "DELETE FROM configuration_fingerprint WHERE item = :item",
                arguments: ["item": change.item])
            guard let after = change.after else { continue }
            try Self.insertFingerprint.run(in: database) {
                $1.set($0.item, change.item)
                $1.set($0.fingerprint, after)
                $1.set($0.firstSeenAt, moment)
            }
        }
        try appendAudit(changes.map { $0.entry(at: moment) })
        return changes
    }

    private static let insertFingerprint = Insertion<ConfigurationFingerprintTable>()
}

extension AuditLink {
    fileprivate init?(_ row: Row) {
        guard let digest = SHA256Digest(row["hash"] as Data) else { return nil }
        self.init(sequence: row["sequence"], hash: digest)
    }
}
