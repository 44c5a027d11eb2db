public import Cryptography

/// Reads the audit log, an append-only log in which a hash chains each row to the previous row.
public protocol AuditReader: Sendable {
    /// Returns the ends of the chain.
    func auditChain() async throws -> AuditChain

    /// Returns rows after a number, oldest first.
    func auditRows(after sequence: Int64, limit: Int) async throws -> [AuditRow]

    /// Returns rows before a number, newest first.
    ///
    /// - Parameter account: The account that the rows concern; `nil` for all rows.
    func auditRows(before sequence: Int64, of account: AccountID?, limit: Int) async throws -> [AuditRow]

    /// Returns the number of the newest row recorded at this moment or earlier; 0 if there is none.
    func auditSequence(at moment: Moment) async throws -> Int64
}

/// Stores the audit log. Command transactions append their own rows; this protocol appends all others.
public protocol AuditStore: AuditReader {
    /// Appends entries in one transaction, and returns once they are durable. If an entry's account does not
    /// exist, or no longer exists, the account is removed from the entry.
    func appendAudit(_ entries: [AuditEntry]) async throws

    /// Deletes a limited number of the oldest rows recorded before a moment, and moves the anchor. Appends a
    /// row that records the purge, unless there was nothing to delete. Returns the number of deleted rows.
    ///
    /// If the clock is wrong, a row can get a time in the future. Such a row is deleted along with the old
    /// rows after it, because it would otherwise block the purge for years. A run of more than
    /// `AuditPurge.farthestSearch` such rows is kept.
    ///
    /// - Parameter now: The time of the new row.
    func purgeAudit(before end: Moment, at now: Moment) async throws -> Int

    /// Stores the configuration fingerprints, and appends an entry for each fingerprint that differs from the
    /// stored fingerprint, in one transaction. When several replicas start with the same configuration, the
    /// first replica does this.
    func noteConfiguration(
        _ fingerprints: [String: String], at moment: Moment
    ) async throws -> [ConfigurationChange]

    /// Returns the configuration parts as of the last start, in any order.
    func configurationParts() async throws -> [SeenConfigurationPart]
}

/// A purge deleted rows before the reader received them.
public struct AuditRowsPurged: Error, Sendable, Equatable {
    public let rows: ClosedRange<Int64>
}

extension AuditReader {
    /// Number of rows per read.
    private var pageSize: Int { 1000 }

    /// Verifies the stored chain from its anchor to its newest row, even while the service is writing.
    ///
    /// - Parameters:
    ///   - expected: A hash of this chain from an earlier day.
    ///   - onRows: Called with the verified rows, page by page, once for each row.
    /// - Throws: `AuditVerification.Fault` for the first fault; `AuditRowsPurged` if a purge overtook
    ///   `onRows`; `StorageError`.
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
                // A purge during the walk deletes rows and moves the anchor, which looks like a fault.
                guard try await auditChain().anchor != chain.anchor else { throw fault }
            }
        }
    }

    /// - Parameter given: The last row that `onRows` has received, possibly in an earlier walk that a purge
    ///   interrupted.
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
