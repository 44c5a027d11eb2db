public import Cryptography

extension AuditReader {
    /// Number of rows that are read at once.
    private var pageSize: Int { 1000 }

    /// Verifies the stored chain from its anchor to its newest row. The service may write meanwhile.
    ///
    /// - Parameters:
    ///   - expected: A hash of this chain from an earlier day.
    ///   - onRows: Called with the verified rows, page after page.
    /// - Throws: `AuditVerification.Fault` for the first row that is not as it was written; `StorageError`.
    public func verifyAudit(
        expected: SHA256Digest? = nil, onRows: ([AuditRow]) throws -> Void = { _ in }
    ) async throws -> AuditVerification {
        while true {
            let chain = try await auditChain()
            do {
                return try await walk(chain, expected: expected, onRows)
            } catch let fault as AuditVerification.Fault {
                // A purge during the walk deletes rows and moves the anchor.
                guard try await auditChain().anchor != chain.anchor else { throw fault }
            }
        }
    }

    private func walk(
        _ chain: AuditChain, expected: SHA256Digest?, _ onRows: ([AuditRow]) throws -> Void
    ) async throws -> AuditVerification {
        var verification = AuditVerification(chain, expected: expected)
        while true {
            let rows = try await auditRows(after: verification.verified.sequence, limit: pageSize)
            for row in rows { try verification.check(row) }
            try onRows(rows)
            guard rows.count == pageSize else { break }
        }
        try verification.finish()
        return verification
    }
}
