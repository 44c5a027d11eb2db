import AppleAccounts

/// Verifies the audit log piece by piece, as long as operators look at its page. A whole log can have millions of
/// rows; `siwa audit verify` verifies it at once.
actor AuditProgress {
    /// Most rows that one look at the page verifies: some 50 ms.
    static let step = 5000
    private static let pageSize = 1000

    enum State: Sendable, Equatable {
        /// - Parameter isWhole: True if no row is left to be verified.
        case verified(upTo: Int64, isWhole: Bool)
        case broken(AuditVerification.Fault)
    }

    private let reader: any AuditReader
    private var verification: AuditVerification?
    private var anchor: AuditLink?
    private var fault: AuditVerification.Fault?

    init(_ reader: any AuditReader) { self.reader = reader }

    /// Goes on from where the last look has ended.
    ///
    /// - Throws: `StorageError`.
    func advance(_ chain: AuditChain) async throws -> State {
        // A purge has moved the anchor: what was verified before is gone, or is verified again.
        if anchor != chain.anchor { (verification, fault) = (AuditVerification(chain), nil) }
        anchor = chain.anchor
        if let fault { return .broken(fault) }
        var current = verification ?? AuditVerification(chain)
        var count = 0
        while count < Self.step {
            let rows = try await reader.auditRows(after: current.verified.sequence, limit: Self.pageSize)
            do throws(AuditVerification.Fault) {
                for row in rows { try current.check(row) }
            } catch {
                fault = error
                return .broken(error)
            }
            count += rows.count
            guard rows.count == Self.pageSize else {
                verification = current
                return end(current, chain)
            }
        }
        verification = current
        return .verified(upTo: current.verified.sequence, isWhole: false)
    }

    /// The end of the stored rows must be the head of the chain. Rows that were written since are no fault.
    private func end(_ verification: AuditVerification, _ chain: AuditChain) -> State {
        let last = verification.verified
        if last.sequence < chain.head.sequence {
            return .broken(AuditVerification.Fault(.headDiffers, at: last.sequence + 1))
        }
        if last.sequence == chain.head.sequence, last != chain.head {
            return .broken(AuditVerification.Fault(.headDiffers, at: last.sequence))
        }
        return .verified(upTo: last.sequence, isWhole: true)
    }
}
