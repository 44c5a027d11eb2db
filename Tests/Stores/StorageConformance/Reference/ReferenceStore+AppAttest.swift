public import AppAttestation
public import AppleAccounts
import Synchronization

extension ReferenceStore: AppAttestStore {
    public func attestedKey(_ id: AttestedKeyID) async throws -> AttestedKeyRecord? {
        state.withLock { $0.attestedKeys[id] }
    }

    public func purgeAttestedKeys(unusedSince moment: Moment) async throws -> Int {
        state.withLock { state in
            let before = state.attestedKeys.count
            state.attestedKeys = state.attestedKeys.filter { $0.value.usedAt >= moment }
            return before - state.attestedKeys.count
        }
    }
}

extension ReferenceStore: NonceKeyStore {
    public func nonceKey(offering candidate: NonceKey) async throws -> NonceKey {
        state.withLock { state in
            let key = state.nonceKey ?? candidate
            state.nonceKey = key
            return key
        }
    }

    public func purgeNonces(expiredBefore moment: Moment) async throws -> Int {
        state.withLock { state in
            let before = state.usedNonces.count
            state.usedNonces = state.usedNonces.filter { $0.value.keptUntil >= moment }
            return before - state.usedNonces.count
        }
    }
}

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

extension ReferenceStore: AppCheckHourStore {
    public func addAppCheckHours(_ hours: [AppCheckHour]) async throws {
        state.withLock { state in
            for hour in hours {
                state.appCheckHours[hour.target, default: [:]][hour.hour, default: AppCheckTally()] +=
                    hour.tally
            }
        }
    }

    public func appCheckHours(of targets: [AppCheckTarget], from hour: Int64) async throws -> [AppCheckHour] {
        state.withLock { state in
            targets.flatMap { target in
                (state.appCheckHours[target] ?? [:]).filter { $0.key >= hour }
                    .map { AppCheckHour(target: target, hour: $0.key, tally: $0.value) }
            }.sorted { $0.hour < $1.hour }
        }
    }

    public func purgeAppCheckHours(before end: Int64) async throws -> Int {
        state.withLock { state in
            var count = 0
            for (target, hours) in state.appCheckHours {
                let kept = hours.filter { $0.key >= end }
                count += hours.count - kept.count
                state.appCheckHours[target] = kept
            }
            return count
        }
    }
}

extension ReferenceStore: ServiceHourStore {
    public func setServiceHours(_ counts: [ServiceHourCount]) async throws {
        state.withLock { state in
            for count in counts {
                state.serviceHours[count.hour, default: [:]][count.name, default: [:]][count.replica] =
                    count.count
            }
        }
    }

    public func serviceHours(from hour: Moment) async throws -> [ServiceHourSum] {
        state.withLock { state in
            state.serviceHours.filter { $0.key >= hour }.flatMap { hour, names in
                names.map { name, replicas in
                    ServiceHourSum(hour: hour, name: name, count: replicas.values.reduce(0, +))
                }
            }.sorted { ($0.hour, $0.name) < ($1.hour, $1.name) }
        }
    }

    public func purgeServiceHours(before moment: Moment) async throws -> Int {
        state.withLock { state in
            let gone = state.serviceHours.filter { $0.key < moment }
            for hour in gone.keys { state.serviceHours[hour] = nil }
            return gone.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.count } }
        }
    }
}
