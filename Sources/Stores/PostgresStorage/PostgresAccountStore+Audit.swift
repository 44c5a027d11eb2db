public import AppleAccounts

extension PostgresAccountStore: AuditStore {
    public func appendAudit(_ entries: [AuditEntry]) async throws {
        guard !entries.isEmpty else { return }
        try await pool.run { try AuditRows.append(entries, in: $0) }
    }

    public func auditChain() async throws -> AuditChain { try await pool.run { try AuditRows.chain(in: $0) } }

    public func auditRows(after sequence: Int64, limit: Int) async throws -> [AuditRow] {
        try await pool.run { try AuditRows.rows(after: sequence, limit: limit, in: $0) }
    }

    public func auditRows(
        before sequence: Int64, of account: AccountID?, limit: Int
    ) async throws -> [AuditRow] {
        try await pool.run { try AuditRows.rows(before: sequence, of: account, limit: limit, in: $0) }
    }

    public func auditSequence(at moment: Moment) async throws -> Int64 {
        try await pool.run { try AuditRows.sequence(at: moment, in: $0) }
    }

    public func purgeAudit(before end: Moment, at now: Moment) async throws -> Int {
        try await pool.run { try AuditRows.purge(before: end, at: now, in: $0) }
    }

    public func noteConfiguration(
        _ fingerprints: [String: String], at moment: Moment
    ) async throws -> [ConfigurationChange] {
        try await pool.run { try AuditRows.noteConfiguration(fingerprints, at: moment, in: $0) }
    }

    public func configurationParts() async throws -> [SeenConfigurationPart] {
        try await pool.run { try AuditRows.configurationParts(in: $0) }
    }
}
