import AppAttestation
public import AppleAccounts
import Synchronization

extension ReferenceStore: AppReceiptStore {
    public func claimReceipts(
        limit: Int, at moment: Moment, leaseUntil: Moment
    ) async throws -> [AttestedKeyRecord] {
        state.withLock { state in
            let due = state.attestedKeys.values
                .filter { $0.receiptRefreshAt.map { $0 <= moment } ?? false }
                .sorted { ($0.receiptRefreshAt ?? moment) < ($1.receiptRefreshAt ?? moment) }
                .prefix(limit)
            for key in due {
                state.attestedKeys[key.id] = key.with(
                    receipt: key.receipt, refreshAt: leaseUntil, riskMetric: key.riskMetric)
            }
            return Array(due)
        }
    }

    public func nextReceiptDue() async throws -> Moment? {
        state.withLock { $0.attestedKeys.values.compactMap(\.receiptRefreshAt).min() }
    }

    public func replaceReceipt(
        of claimed: AttestedKeyRecord, by refreshed: RefreshedReceipt
    ) async throws {
        change(claimed) {
            $0.with(
                receipt: refreshed.sealed, refreshAt: refreshed.refreshAt, riskMetric: refreshed.riskMetric)
        }
    }

    public func postponeReceipt(of claimed: AttestedKeyRecord, until moment: Moment) async throws {
        change(claimed) { $0.with(receipt: $0.receipt, refreshAt: moment, riskMetric: $0.riskMetric) }
    }

    public func dropReceipt(of claimed: AttestedKeyRecord) async throws {
        change(claimed) { $0.with(receipt: nil, refreshAt: nil, riskMetric: $0.riskMetric) }
    }

    private func change(
        _ claimed: AttestedKeyRecord, _ body: @Sendable (AttestedKeyRecord) -> AttestedKeyRecord
    ) {
        state.withLock { state in
            guard let key = state.attestedKeys[claimed.id], key.receipt == claimed.receipt else { return }
            state.attestedKeys[claimed.id] = body(key)
        }
    }
}
