import AppAttestation
public import AppleAccounts
import SQLTables

extension PostgresAccountStore: AppReceiptStore {
    struct Claim {
        let statement: TypedStatement<Moment, Moment, Int64>
        let columns: AppAttestKeyTable

        init() {
            var list = SelectList()
            columns = list.add(AppAttestKeyTable.self, as: "due")
            statement = TypedStatement("claim_receipts") { now, until, limit in
                """
                UPDATE app_attest_key AS k SET receipt_refresh_at = \(until) FROM (
                    SELECT * FROM app_attest_key WHERE receipt_refresh_at <= \(now)
                    ORDER BY receipt_refresh_at, key_id LIMIT \(limit) FOR UPDATE SKIP LOCKED) AS due
                WHERE k.key_id = due.key_id RETURNING \(list)
                """
            }
        }
    }

    static let claimDueReceipts = Claim()
    private static let nextDueReceipt = TypedStatement<Int64>("next_receipt_due") { limit in
        """
        SELECT receipt_refresh_at FROM app_attest_key WHERE receipt_refresh_at IS NOT NULL
        ORDER BY receipt_refresh_at LIMIT \(limit)
        """
    }
    private static let replaceKeptReceipt = TypedStatement<
        AttestedKeyID, SealedSecret, SealedSecret, Moment, Int64
    >("replace_receipt") { key, old, new, time, metric in
        """
        UPDATE app_attest_key SET receipt = \(new), receipt_refresh_at = \(time), risk_metric = \(metric)
        WHERE key_id = \(key) AND receipt = \(old)
        """
    }
    private static let postponeKeptReceipt = TypedStatement<AttestedKeyID, SealedSecret, Moment>(
        "postpone_receipt"
    ) { key, old, time in
        "UPDATE app_attest_key SET receipt_refresh_at = \(time) WHERE key_id = \(key) AND receipt = \(old)"
    }
    private static let dropKeptReceipt = TypedStatement<AttestedKeyID, SealedSecret>("drop_receipt") {
        key, old in
        """
        UPDATE app_attest_key SET receipt = NULL, receipt_refresh_at = NULL
        WHERE key_id = \(key) AND receipt = \(old)
        """
    }

    public func claimReceipts(
        limit: Int, at moment: Moment, leaseUntil: Moment
    ) async throws -> [AttestedKeyRecord] {
        let call = Self.claimDueReceipts.statement(moment, leaseUntil, Int64(max(limit, 0)))
        return try await pool.run { session in
            try session.run(call).map { try Self.claimDueReceipts.columns.key($0) }
        }
    }

    public func nextReceiptDue() async throws -> Moment? {
        let call = Self.nextDueReceipt(1)
        return try await pool.run { try $0.run(call).onlyValue(as: Moment.self) }
    }

    public func replaceReceipt(
        of claimed: AttestedKeyRecord, by refreshed: RefreshedReceipt
    ) async throws {
        guard let old = claimed.receipt else { return }
        let call = Self.replaceKeptReceipt(
            claimed.id, old, refreshed.sealed, refreshed.refreshAt, refreshed.riskMetric)
        _ = try await pool.run { try $0.run(call).affected }
    }

    public func postponeReceipt(of claimed: AttestedKeyRecord, until moment: Moment) async throws {
        guard let old = claimed.receipt else { return }
        let call = Self.postponeKeptReceipt(claimed.id, old, moment)
        _ = try await pool.run { try $0.run(call).affected }
    }

    public func dropReceipt(of claimed: AttestedKeyRecord) async throws {
        guard let old = claimed.receipt else { return }
        let call = Self.dropKeptReceipt(claimed.id, old)
        _ = try await pool.run { try $0.run(call).affected }
    }
}
