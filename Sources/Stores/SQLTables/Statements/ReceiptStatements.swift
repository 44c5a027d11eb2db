import AppAttestation
public import AppleAccounts

/// Receipts of App Attest, for both databases.
public enum ReceiptStatements {
    public static let due = SQLStatement<AppAttestKeyTable, Moment, Int64>("due_receipts") {
        $0.add(AppAttestKeyTable.self)
    } sql: { dialect, list, now, limit in
        """
        SELECT \(list) FROM app_attest_key WHERE receipt_refresh_at <= \(now)
        ORDER BY receipt_refresh_at, key_id LIMIT \(limit) \(dialect.skippingLocked)
        """
    }
    fileprivate static let next = SQLStatement<Void>("next_receipt_due") { _ in
        """
        SELECT receipt_refresh_at FROM app_attest_key WHERE receipt_refresh_at IS NOT NULL
        ORDER BY receipt_refresh_at LIMIT 1
        """
    }
    fileprivate static let replace = SQLStatement<
        Void, AttestedKeyID, SealedSecret, SealedSecret, Moment, Int64
    >("replace_receipt") { _, key, old, new, time, metric in
        """
        UPDATE app_attest_key SET receipt = \(new), receipt_refresh_at = \(time), risk_metric = \(metric)
        WHERE key_id = \(key) AND receipt = \(old)
        """
    }
    fileprivate static let postpone = SQLStatement<Void, AttestedKeyID, SealedSecret, Moment>(
        "postpone_receipt"
    ) { _, key, old, time in
        "UPDATE app_attest_key SET receipt_refresh_at = \(time) WHERE key_id = \(key) AND receipt = \(old)"
    }
    fileprivate static let drop = SQLStatement<Void, AttestedKeyID, SealedSecret>("drop_receipt") {
        _, key, old in
        """
        UPDATE app_attest_key SET receipt = NULL, receipt_refresh_at = NULL
        WHERE key_id = \(key) AND receipt = \(old)
        """
    }
}

extension AppReceiptStore where Self: SQLStore {
    public func claimReceipts(
        limit: Int, at moment: Moment, leaseUntil: Moment
    ) async throws -> [AttestedKeyRecord] {
        try await transaction { session in
            let due = try session.rows(ReceiptStatements.due(moment, Int64(max(limit, 0)))) {
                try ReceiptStatements.due.columns.key($0)
            }
            for key in due {
                guard let receipt = key.receipt else { continue }
                try session.runLast(ReceiptStatements.postpone(key.id, receipt, leaseUntil))
            }
            return due
        }
    }

    public func nextReceiptDue() async throws -> Moment? {
        try await snapshot { try $0.value(ReceiptStatements.next(), as: Moment.self) }
    }

    public func replaceReceipt(
        of claimed: AttestedKeyRecord, by refreshed: RefreshedReceipt
    ) async throws {
        guard let old = claimed.receipt else { return }
        try await run(
            ReceiptStatements.replace(
                claimed.id, old, refreshed.sealed, refreshed.refreshAt, refreshed.riskMetric))
    }

    public func postponeReceipt(of claimed: AttestedKeyRecord, until moment: Moment) async throws {
        guard let old = claimed.receipt else { return }
        try await run(ReceiptStatements.postpone(claimed.id, old, moment))
    }

    public func dropReceipt(of claimed: AttestedKeyRecord) async throws {
        guard let old = claimed.receipt else { return }
        try await run(ReceiptStatements.drop(claimed.id, old))
    }
}
