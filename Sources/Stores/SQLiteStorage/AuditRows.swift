public import AppleAccounts
import Cryptography
import Foundation
import GRDB
import SQLTables

extension SQLiteAccountStore: AuditStore {
    public func appendAudit(_ entries: [AuditEntry]) async throws {
        guard !entries.isEmpty else { return }
        try await writer.write { writer in
            let known = try entries.map { try writer.audit().withKnownPerson($0) }
            try writer.appendAudit(known)
        }
    }

    public func auditChain() async throws -> AuditChain {
        try await reader.read { try $0.audit().chain() }
    }

    public func auditRows(after sequence: Int64, limit: Int) async throws -> [AuditRow] {
        try await reader.read { try $0.audit().rows(after: sequence, limit: limit) }
    }

    public func auditRows(
        before sequence: Int64, of account: AccountID?, limit: Int
    ) async throws -> [AuditRow] {
        try await reader.read { try $0.audit().rows(before: sequence, of: account, limit: limit) }
    }

    public func auditSequence(at moment: Moment) async throws -> Int64 {
        try await reader.read { try $0.audit().sequence(at: moment) }
    }

    public func purgeAudit(before end: Moment, at now: Moment) async throws -> Int {
        try await writer.write { try $0.purgeAudit(before: end, at: now) }
    }

    public func noteConfiguration(
        _ fingerprints: [String: String], at moment: Moment
    ) async throws -> [ConfigurationChange] {
        try await writer.write { try $0.noteConfiguration(fingerprints, at: moment) }
    }

    public func configurationParts() async throws -> [SeenConfigurationPart] {
        try await reader.read { try $0.audit().configurationParts() }
    }
}

/// Reads the audit log.
final class AuditRows {
    private struct Find {
        let statement: PreparedStatement
        let columns: AuditTable
        let limit: Parameter<Int64>
        let bound: Parameter<Int64>
        let account: Parameter<AccountID>

        /// - Parameter clauses: SQL behind the name of the table.
        init(
            in database: Database, _ clauses: (Parameter<Int64>, Parameter<AccountID>) -> String
        ) throws {
            var parameters = ParameterList()
            (limit, bound) = (parameters.add(Int64.self), parameters.add(Int64.self))
            account = parameters.add(AccountID.self)
            var list = SelectList()
            columns = list.add(AuditTable.self)
            statement = try PreparedStatement(
                "SELECT \(list) FROM audit \(clauses(bound, account)) LIMIT \(limit)", in: database)
        }

        func rows(from sequence: Int64, of id: AccountID? = nil, limit most: Int) throws -> [AuditRow] {
            statement.begin()
            statement.bind(sequence, to: bound)
            if let id { statement.bind(id, to: account) }
            statement.bind(Int64(most), to: limit)
            defer { statement.finish() }
            var rows: [AuditRow] = []
            while try statement.step() { rows.append(try columns.row(statement)) }
            return rows
        }
    }

    private let after: Find
    private let before: Find
    private let ofAccount: Find
    private let findSequence: PreparedStatement
    private let moment: Parameter<Moment>
    private let findChain: PreparedStatement
    private let chainColumns: AuditChainTable
    private let findParts: PreparedStatement
    private let partColumns: ConfigurationFingerprintTable

    init(in database: Database) throws {
        // The account is compared with itself where it does not matter, so that one type binds all three.
        after = try Find(in: database) { bound, account in
            "WHERE sequence > \(bound) AND \(account) IS NULL ORDER BY sequence"
        }
        before = try Find(in: database) { bound, account in
            "WHERE sequence < \(bound) AND \(account) IS NULL ORDER BY sequence DESC"
        }
        ofAccount = try Find(in: database) { bound, account in
            "WHERE account_id = \(account) AND sequence < \(bound) ORDER BY sequence DESC"
        }
        var parameters = ParameterList()
        moment = parameters.add(Moment.self)
        findSequence = try PreparedStatement(
            """
            SELECT sequence FROM audit WHERE recorded_at <= \(moment)
            ORDER BY recorded_at DESC, sequence DESC LIMIT 1
            """, in: database)
        var list = SelectList()
        chainColumns = list.add(AuditChainTable.self)
        findChain = try PreparedStatement("SELECT \(list) FROM audit_chain WHERE id = 1", in: database)
        var parts = SelectList()
        partColumns = parts.add(ConfigurationFingerprintTable.self)
        findParts = try PreparedStatement("SELECT \(parts) FROM configuration_fingerprint", in: database)
    }

    func configurationParts() throws -> [SeenConfigurationPart] {
        findParts.begin()
        defer { findParts.finish() }
        var parts: [SeenConfigurationPart] = []
        while try findParts.step() { parts.append(try partColumns.part(findParts)) }
        return parts
    }

    func rows(after sequence: Int64, limit: Int) throws -> [AuditRow] {
        try after.rows(from: sequence, limit: limit)
    }

    func rows(before sequence: Int64, of account: AccountID?, limit: Int) throws -> [AuditRow] {
        guard let account else { return try before.rows(from: sequence, limit: limit) }
        return try ofAccount.rows(from: sequence, of: account, limit: limit)
    }

    func sequence(at time: Moment) throws -> Int64 {
        findSequence.begin()
        findSequence.bind(time, to: moment)
        defer { findSequence.finish() }
        return try findSequence.step() ? findSequence.onlyValue(as: Int64.self) ?? 0 : 0
    }

    func chain() throws -> AuditChain {
        findChain.begin()
        defer { findChain.finish() }
        guard try findChain.step() else { throw StorageError.noAuditChain }
        return try chainColumns.chain(findChain)
    }
}

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
