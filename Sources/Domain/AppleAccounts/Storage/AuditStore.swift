public import Cryptography

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

/// The rows that a reader still had to be given when a purge deleted them.
public struct AuditRowsPurged: Error, Sendable, Equatable {
    public let rows: ClosedRange<Int64>
}

extension AuditReader {
    /// Number of rows that are read at once.
    private var pageSize: Int { 1000 }

    /// Verifies the stored chain from its anchor to its newest row. The service may write meanwhile.
    ///
    /// - Parameters:
    ///   - expected: A hash of this chain from an earlier day.
    ///   - onRows: Called with the verified rows, page after page, each row once.
    /// - Throws: `AuditVerification.Fault` for the first row that is not as it was written; `AuditRowsPurged` when a
    ///   purge was faster than `onRows`; `StorageError`.
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

    /// - Parameter given: The last row that `onRows` has, also of an earlier walk, which a purge has ended.
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
