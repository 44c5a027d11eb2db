public import Cryptography

/// Reads the audit log: rows that are only appended, each chained to the row before it by its hash.
public protocol AuditReader: Sendable {
    /// Returns the ends of the chain.
    func auditChain() async throws -> AuditChain

    /// Returns rows after a number, the oldest first.
    func auditRows(after sequence: Int64, limit: Int) async throws -> [AuditRow]

    /// Returns rows before a number, the newest first.
    ///
    /// - Parameter account: The account of the rows; `nil` for all rows.
    func auditRows(before sequence: Int64, of account: AccountID?, limit: Int) async throws -> [AuditRow]

    /// Returns the number of the newest row that was recorded at this moment or earlier; 0 without rows.
    func auditSequence(at moment: Moment) async throws -> Int64
}

/// Stores the audit log. The transaction of the commands appends
/// their rows; this protocol appends the others.
public protocol AuditStore: AuditReader {
    /// Appends entries in one transaction, and returns when they are durable. Removes an account that does
    /// not exist, or no longer exists, from its entry.
    func appendAudit(_ entries: [AuditEntry]) async throws

    /// Deletes a bounded number of the oldest rows that were recorded before a moment,
    /// and moves the anchor. Appends a row that records the purge, unless there was
    /// nothing to delete. Returns the number of deleted rows.
    ///
    /// A wrong clock can write a row with a future time. Such a row is deleted together with the rows
    /// after it, so that it does not keep older and younger rows for years. More than
    /// `AuditPurge.farthestSearch` such rows in sequence stay.
    ///
    /// - Parameter now: The time of the new row.
    func purgeAudit(before end: Moment, at now: Moment) async throws -> Int

    /// Stores the fingerprints of the configuration, and appends an entry for each
    /// difference from the stored fingerprints, in one transaction. Of several replicas that
    /// start with one configuration, the first does this.
    func noteConfiguration(
        _ fingerprints: [String: String], at moment: Moment
    ) async throws -> [ConfigurationChange]

    /// Returns the parts of the configuration of the last start, in any order.
    func configurationParts() async throws -> [SeenConfigurationPart]
}

/// A purge deleted rows before a reader received them.
public struct AuditRowsPurged: Error, Sendable, Equatable {
    public let rows: ClosedRange<Int64>
}

extension AuditReader {
    /// Number of rows of one read.
    private var pageSize: Int { 1000 }

    /// Verifies the stored chain from its anchor to its newest row. The service may write at the same time.
    ///
    /// - Parameters:
    ///   - expected: A hash of this chain from an earlier day.
    ///   - onRows: Called with the verified rows, page after page, each row once.
    /// - Throws: `AuditVerification.Fault` for the first row that differs from the row as written;
    ///   `AuditRowsPurged` when a purge was faster than `onRows`; `StorageError`.
    public func verifyAudit(
        expected: SHA256Digest? = nil, onRows: (([AuditRow]) throws -> Void)? = nil
    ) async throws -> AuditVerification {
        var given: AuditLink?
        while true {
            let chain = try await auditChain()
            if onRows != nil, let given, given.sequence < chain.anchor.sequence {
                throw AuditRowsPurged(rows: given.sequence + 1...chain.anchor.sequence)
            }
            do {
                return try await walk(chain, expected: expected, after: &given, onRows)
            } catch let fault as AuditVerification.Fault {
                // A purge during the walk deletes rows and moves the anchor.
                guard try await auditChain().anchor != chain.anchor else { throw fault }
            }
        }
    }

    /// - Parameter given: The last row that `onRows` has received,
    ///   including an earlier walk that a purge has ended.
    private func walk(
        _ chain: AuditChain, expected: SHA256Digest?, after given: inout AuditLink?,
        _ onRows: (([AuditRow]) throws -> Void)?
    ) async throws -> AuditVerification {
        var verification = AuditVerification(chain, expected: expected)
        while true {
            let rows = try await auditRows(after: verification.verified.sequence, limit: pageSize)
            for row in rows {
                try verification.check(row)
                if let given, row.sequence == given.sequence, row.link != given {
                    throw AuditVerification.Fault(.changed, at: row.sequence)
                }
            }
            if let onRows {
                let new = rows.drop { $0.sequence <= given?.sequence ?? 0 }
                try onRows(Array(new))
                given = new.last?.link ?? given
            }
            guard rows.count == pageSize else { break }
        }
        try verification.finish()
        return verification
    }
}
