/// Reads the audit log: rows that are only appended, each chained to the row before it by its hash.
public protocol AuditReader: Sendable {
    /// Returns the ends of the chain.
    func auditChain() async throws -> AuditChain

    /// Returns rows after a number, the oldest first.
    func auditRows(after sequence: Int64, limit: Int) async throws -> [AuditRow]

    /// Returns rows before a number, the newest first.
    ///
    /// - Parameter account: Only rows about this account; `nil` for all rows.
    func auditRows(before sequence: Int64, of account: AccountID?, limit: Int) async throws -> [AuditRow]

    /// Returns the number of the newest row that was recorded at this moment or earlier; 0 without one.
    func auditSequence(at moment: Moment) async throws -> Int64
}

/// Stores the audit log. The rows of commands are appended in the transaction of the commands; this protocol has the
/// others.
public protocol AuditStore: AuditReader {
    /// Appends entries in one transaction, and returns when they are durable. An account that does not exist, or
    /// not any more, is dropped from its entry.
    func appendAudit(_ entries: [AuditEntry]) async throws

    /// Deletes the oldest rows as long as they were recorded before a moment, a bounded number per call, and
    /// moves the anchor. Appends a row that tells of it, unless it found none. Returns the number of deleted rows.
    ///
    /// A row of the future was written by a wrong clock. It goes with the rows after it, so that it does not keep
    /// older and younger rows for years. More than `AuditPurge.farthestSearch` of them in sequence stay.
    ///
    /// - Parameter now: The time of the new row.
    func purgeAudit(before end: Moment, at now: Moment) async throws -> Int

    /// Stores the fingerprints of the configuration, and appends an entry for each difference from the stored
    /// fingerprints, in one transaction. Of several replicas that start with one configuration, the first does it.
    func noteConfiguration(
        _ fingerprints: [String: String], at moment: Moment
    ) async throws -> [ConfigurationChange]

    /// Returns the parts of the configuration as the last start has noted them, in any order.
    func configurationParts() async throws -> [SeenConfigurationPart]
}
