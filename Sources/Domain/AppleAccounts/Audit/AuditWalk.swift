public import Cryptography

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
