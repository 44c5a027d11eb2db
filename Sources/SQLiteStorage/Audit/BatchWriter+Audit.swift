import AppleAccounts
import Cryptography
import Foundation
import GRDB
import SQLTables

// Rare writes of the audit log, inside a transaction. Their statements are not kept.
extension BatchWriter {
    func purgeAudit(before end: Moment, at now: Moment) throws -> Int {
        // Only a beginning of the chain, so that it stays one piece: up to the last old row before the first row that
        // is neither old nor of the future. The signs keep SQLite from the index by time, which has no such order.
        let last = try Int64.fetchOne(
            database,
            sql: """
                SELECT sequence FROM audit WHERE +recorded_at < :end AND sequence < coalesce(
                    (SELECT sequence FROM audit WHERE +recorded_at >= :end AND +recorded_at <= :now
                     ORDER BY sequence LIMIT 1), :all)
                ORDER BY sequence DESC LIMIT 1
                """, arguments: ["end": end.milliseconds, "now": now.milliseconds, "all": Int64.max])
        guard let last else { return 0 }
        let old = try Row.fetchAll(
            database,
            sql: "SELECT sequence, hash FROM audit WHERE sequence <= :last ORDER BY sequence LIMIT :limit",
            arguments: ["last": last, "limit": AuditPurge.largestStep])
        guard let anchor = old.last.flatMap({ AuditLink($0) }) else { return 0 }
        try database.execute(
            sql: "DELETE FROM audit WHERE sequence <= :anchor", arguments: ["anchor": anchor.sequence])
        try database.execute(
            sql: "UPDATE audit_chain SET anchor_sequence = :anchor, anchor_hash = :hash WHERE id = 1",
            arguments: ["anchor": anchor.sequence, "hash": Data(anchor.hash.bytes)])
        try appendAudit([AuditPurge.entry(upTo: anchor, at: now)])
        return old.count
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
