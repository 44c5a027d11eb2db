import AppAttestation
public import AppleAccounts

/// Statements for App Attest receipts, and for deleting old App Attest keys; for both databases.
public enum ReceiptStatements {
    public static let due = SQLStatement<AppAttestKeyTable, Moment, Int64>(rows: "due_receipts") {
        dialect, now, limit in
        """
        WHERE receipt_refresh_at <= \(now)
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
    fileprivate static let removeKeys = SQLStatement<Column<AppID>, Moment, Int64>("purge_attested_keys") {
        $0.add("app_id", AppID.self, as: "app_id")
    } sql: { dialect, list, end, limit in
        """
        DELETE FROM app_attest_key WHERE key_id IN (
            SELECT key_id FROM app_attest_key WHERE used_at < \(end) ORDER BY used_at
            LIMIT \(limit) \(dialect.skippingLocked))
        RETURNING \(list)
        """
    }
    fileprivate static let subtract = SQLStatement<Void, AppID, Int64>("subtract_attested_keys") {
        _, app, count in
        "UPDATE app_attest_count SET key_count = key_count - \(count) WHERE app_id = \(app)"
    }
}

extension AppAttestStore where Self: SQLStore {
    public func purgeAttestedKeys(unusedSince moment: Moment) async throws -> Int {
        let remove = ReceiptStatements.removeKeys
        // A registration locks the count and then the keys; a purge locks them in the opposite order. If the
        // two deadlock, one of the transactions is repeated.
        return try await transaction { session in
            let apps = try session.rows(remove(moment, Int64(Self.largestPurge))) {
                try $0.required(remove.columns)
            }
            let counts = Dictionary(apps.map { ($0, 1 as Int64) }, uniquingKeysWith: +)
            for (app, count) in counts.sorted(by: { $0.key.text < $1.key.text }) {
                try session.runLast(ReceiptStatements.subtract(app, count))
            }
            return apps.count
        }
    }
}

extension AppReceiptStore where Self: SQLStore {
    public func claimReceipts(
        limit: Int, at moment: Moment, leaseUntil: Moment
    ) async throws -> [AttestedKeyRecord] {
        try await transaction { session in
            let due = try session.records(ReceiptStatements.due, moment, Int64(max(limit, 0)))
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
