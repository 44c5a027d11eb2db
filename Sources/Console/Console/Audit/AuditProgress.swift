import AppleAccounts

/// Verifies the audit log in steps, one for each visit to the audit page, because a log can have millions of
/// rows. `siwa audit verify` verifies the whole log in one run.
///
/// When verification has reached the end of the log, the next step starts again at the anchor, so that it
/// finds rows that were changed after their verification. The last verified row stays in memory, so that this
/// process also detects a log whose end was removed or rewritten.
actor AuditProgress {
    /// Maximum number of rows that one step verifies, which takes about 50 ms.
    static let step = 5000
    private static let pageSize = 1000
    /// Maximum number of purges during one step. The step starts again after each purge.
    private static let mostPurges = 3

    enum State: Sendable, Equatable {
        /// - Parameter isWhole: True if this step has reached the newest row.
        case verified(upTo: Int64, isWhole: Bool)
        case broken(AuditVerification.Fault)
    }

    /// A complete verification of the log that found all rows unchanged.
    struct Whole: Sendable, Equatable {
        let moment: Moment
        let rows: ClosedRange<Int64>?
        /// Number of rows whose user was erased.
        let anonymous: Int
    }

    /// - lastWhole: The last complete verification; `nil` until this process has verified all rows.
    typealias Look = (state: State, chain: AuditChain, lastWhole: Whole?)

    private let reader: any AuditReader
    /// The current pass through the log, which started at the anchor.
    private var verification: AuditVerification?
    private var anchor: AuditLink?
    /// The newest row that this process has ever verified.
    private var newest: AuditLink?
    private var fault: AuditVerification.Fault?
    private var lastWhole: Whole?
    /// The step in progress, which concurrent calls wait for.
    private var running: Task<Look, any Error>?

    init(_ reader: any AuditReader) { self.reader = reader }

    /// Continues the verification where the last step ended.
    ///
    /// - Throws: `StorageError` if a database operation fails.
    func advance(at now: Moment) async throws -> Look {
        if let running { return try await running.value }
        let task = Task { try await look(at: now) }
        running = task
        defer { running = nil }
        return try await task.value
    }

    private func look(at now: Moment) async throws -> Look {
        var chain = try await reader.auditChain()
        for _ in 0...Self.mostPurges {
            do {
                // If a purge has moved the anchor, the rows before it are gone, so the verification of the
                // remaining rows starts again.
                if anchor != chain.anchor { (anchor, verification, fault) = (chain.anchor, nil, nil) }
                if let fault { return (.broken(fault), chain, lastWhole) }
                if let newest, chain.head.sequence < newest.sequence {
                    // Reads the chain again, because the first answer may have come from a database server
                    // that lags behind.
                    chain = try await reader.auditChain()
                    guard chain.head.sequence >= newest.sequence else {
                        throw AuditVerification.Fault(.missing, at: chain.head.sequence + 1)
                    }
                }
                return (try await goOn(chain, at: now), chain, lastWhole)
            } catch let found as AuditVerification.Fault {
                let after = try await reader.auditChain()
                if after.anchor == chain.anchor {
                    fault = found
                    return (.broken(found), after, lastWhole)
                }
                chain = after
            }
        }
        return (.verified(upTo: chain.anchor.sequence, isWhole: false), chain, lastWhole)
    }

    private func goOn(_ chain: AuditChain, at now: Moment) async throws -> State {
        // A purge has deleted the rows before the anchor, so verification cannot expect their hashes.
        let known = newest.flatMap { $0.sequence >= chain.anchor.sequence ? $0.hash : nil }
        var current = verification ?? AuditVerification(chain, expected: known)
        var count = 0
        while count < Self.step {
            let rows = try await reader.auditRows(after: current.verified.sequence, limit: Self.pageSize)
            for row in rows { try current.check(row) }
            if current.verified.sequence > newest?.sequence ?? 0 { newest = current.verified }
            verification = current
            count += rows.count
            guard rows.count == Self.pageSize else { return try await end(current, at: now) }
        }
        return .verified(upTo: current.verified.sequence, isWhole: false)
    }

    /// Checks that the stored rows end at the head of the chain. Rows written in the meantime are not a
    /// fault.
    private func end(_ current: AuditVerification, at now: Moment) async throws -> State {
        let last = current.verified.sequence
        // Reads the head again: a pass can span many calls, and the service moves the head whenever it writes
        // a row.
        let head = try await reader.auditChain().head
        guard head.sequence > last || head == current.verified else {
            throw AuditVerification.Fault(.headDiffers, at: last)
        }
        try current.finish()
        let first = current.firstSequence
        lastWhole = Whole(moment: now, rows: first <= last ? first...last : nil, anonymous: current.anonymous)
        verification = nil
        return .verified(upTo: last, isWhole: true)
    }
}
