public import AppleAccounts
import Cryptography

/// Audit log statements for both databases, except for appending.
public enum AuditStatements {
    fileprivate static let after = SQLStatement<AuditTable, Int64, Int64>(rows: "audit_after") {
        _, sequence, limit in
        "WHERE sequence > \(sequence) ORDER BY sequence LIMIT \(limit)"
    }
    fileprivate static let before = SQLStatement<AuditTable, Int64, Int64>(rows: "audit_before") {
        _, sequence, limit in
        "WHERE sequence < \(sequence) ORDER BY sequence DESC LIMIT \(limit)"
    }
    fileprivate static let ofAccount = SQLStatement<AuditTable, AccountID, Int64, Int64>(
        rows: "audit_of_account"
    ) { _, account, sequence, limit in
        """
        WHERE account_id = \(account) AND sequence < \(sequence)
        ORDER BY sequence DESC LIMIT \(limit)
        """
    }
    fileprivate static let sequenceAt = SQLStatement<Void, Moment>("audit_sequence_at") { _, moment in
        """
        SELECT sequence FROM audit WHERE recorded_at <= \(moment)
        ORDER BY recorded_at DESC, sequence DESC LIMIT 1
        """
    }
    private static let findChain = SQLStatement<AuditChainTable>(rows: "audit_chain") { _ in
        "WHERE id = 1"
    }
    // A purge locks the rows before the chain, in the same order as an erasure, so that a purge and an
    // erasure cannot deadlock.
    fileprivate static let lockOldest = SQLStatement<AuditTable, Int64>("lock_oldest_audit") {
        $0.add(AuditTable.self, .only { [$0[\.link.sequence], $0[\.entry.facts.moment], $0[\.link.hash]] })
    } sql: { dialect, list, limit in
        "SELECT \(list) FROM audit ORDER BY sequence LIMIT \(limit) \(dialect.locking)"
    }
    fileprivate static let anyOld = SQLStatement<Void, Moment>("any_old_audit") { _, end in
        "SELECT 1 FROM audit WHERE recorded_at < \(end) LIMIT 1"
    }
    // The unary plus signs keep the database from using the time index, which would match all rows.
    fileprivate static let firstPresentOrOld = SQLStatement<Void, Int64, Int64, Moment, Moment>(
        "first_present_audit"
    ) { _, sequence, limit, now, end in
        """
        SELECT recorded_at FROM audit WHERE sequence > \(sequence) AND sequence <= \(sequence) + \(limit)
            AND (+recorded_at <= \(now) OR +recorded_at < \(end))
        ORDER BY sequence LIMIT 1
        """
    }
    fileprivate static let remove = SQLStatement<Void, Int64>("remove_audit") { _, sequence in
        "DELETE FROM audit WHERE sequence <= \(sequence)"
    }
    fileprivate static let moveAnchor = SQLStatement<Void, Int64, SHA256Digest>("move_audit_anchor") {
        _, sequence, hash in
        "UPDATE audit_chain SET anchor_sequence = \(sequence), anchor_hash = \(hash) WHERE id = 1"
    }
    /// Clears the columns about a user in their account's audit entries.
    public static let clear = SQLStatement<Void, AccountID>("clear_audit") { _, account in
        "UPDATE audit SET \(AuditTable.clearing) WHERE account_id = \(account)"
    }
    fileprivate static let findParts = SQLStatement<ConfigurationFingerprintTable>(
        rows: "fingerprints"
    ) { _ in "" }
    fileprivate static let removePart = SQLStatement<Void, String>("remove_fingerprint") { _, item in
        "DELETE FROM configuration_fingerprint WHERE item = \(item)"
    }
    fileprivate static let putPart = SQLInsertion<ConfigurationFingerprintTable>(
        "put_fingerprint",
        conflict: """
            ON CONFLICT (item)
            DO UPDATE SET fingerprint = excluded.fingerprint, first_seen_at = excluded.first_seen_at
            """)

    public static func chain(in session: any SQLSession) throws -> AuditChain {
        guard let chain = try session.records(findChain).first else {
            throw StorageError(
                .corrupted, detail: "expected one row in audit_chain, found none; restore a backup")
        }
        return chain
    }
}

extension AuditReader where Self: SQLReader {
    public func auditChain() async throws -> AuditChain {
        try await snapshot { try AuditStatements.chain(in: $0) }
    }

    public func auditRows(after sequence: Int64, limit: Int) async throws -> [AuditRow] {
        try await snapshot { try $0.records(AuditStatements.after, sequence, Int64(limit)) }
    }

    public func auditRows(
        before sequence: Int64, of account: AccountID?, limit: Int
    ) async throws -> [AuditRow] {
        try await snapshot { session in
            guard let account else {
                return try session.records(AuditStatements.before, sequence, Int64(limit))
            }
            return try session.records(AuditStatements.ofAccount, account, sequence, Int64(limit))
        }
    }

    public func auditSequence(at moment: Moment) async throws -> Int64 {
        try await snapshot { try $0.value(AuditStatements.sequenceAt(moment), as: Int64.self) ?? 0 }
    }
}

extension AuditStore where Self: SQLStore {
    /// Appends entries that are not part of another change. Locks their accounts, so that no erasure can
    /// remove them in the meantime.
    public func appendAudit(_ entries: [AuditEntry]) async throws {
        guard !entries.isEmpty else { return }
        try await transaction { session in
            let known = try session.lockAccounts(Set(entries.compactMap(\.person?.account)))
            try session.appendAudit(
                entries.map { entry in
                    entry.person.map { known.contains($0.account) } ?? true ? entry : entry.withoutPerson
                })
        }
    }

    public func purgeAudit(before end: Moment, at now: Moment) async throws -> Int {
        // Most purges find no old row, and then end here without a lock or further reads.
        let anyOld = AuditStatements.anyOld(end)
        guard try await snapshot({ try $0.value(anyOld, as: Int64.self) }) != nil else { return 0 }
        return try await transaction { session in
            let columns = AuditStatements.lockOldest.columns
            let (time, number, hash) = (
                columns[\.entry.facts.moment], columns[\.link.sequence], columns[\.link.hash]
            )
            let oldest = try session.rows(AuditStatements.lockOldest(Int64(AuditPurge.largestStep))) { row in
                (
                    moment: try row.required(time),
                    link: AuditLink(sequence: try row.required(number), hash: try row.required(hash))
                )
            }
            let count = try AuditPurge.step(oldest.map(\.moment), before: end, at: now) {
                guard let last = oldest.last?.link.sequence else { return nil }
                let limit = Int64(AuditPurge.farthestSearch)
                return try session.value(
                    AuditStatements.firstPresentOrOld(last, limit, now, end), as: Moment.self)
            }
            guard let anchor = oldest.prefix(count).last?.link else { return 0 }
            // The chain is locked only from here to the commit, so that audited changes do not wait for the
            // search.
            try session.runLast(AuditStatements.remove(anchor.sequence))
            try session.runLast(AuditStatements.moveAnchor(anchor.sequence, anchor.hash))
            try session.appendAudit([AuditPurge.entry(upTo: anchor, at: now)])
            return count
        }
    }

    public func noteConfiguration(
        _ fingerprints: [String: String], at moment: Moment
    ) async throws -> [ConfigurationChange] {
        try await transaction { session in
            // The table is locked first. If two replicas start together, the second then sees the first
            // replica's values.
            try session.lock(ConfigurationFingerprintTable.self)
            let parts = try session.records(AuditStatements.findParts).map { ($0.item, $0.fingerprint) }
            let changes = ConfigurationChange.between(Dictionary(uniqueKeysWithValues: parts), fingerprints)
            for change in changes {
                guard let after = change.after else {
                    try session.runLast(AuditStatements.removePart(change.item))
                    continue
                }
                let part = SeenConfigurationPart(item: change.item, fingerprint: after, firstSeenAt: moment)
                try session.runLast(AuditStatements.putPart { $0.write(part, to: $1) })
            }
            try session.appendAudit(changes.map { $0.entry(at: moment) })
            return changes
        }
    }

    public func configurationParts() async throws -> [SeenConfigurationPart] {
        try await snapshot { try $0.records(AuditStatements.findParts) }
    }
}
