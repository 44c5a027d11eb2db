import AppAttestation
import AppleAccounts

extension ConformanceCheck {
    static let appReceipts = [
        ConformanceCheck("claims a due receipt of App Attest once") { store in
            let key = try await registered(in: store)
            try expectEqual(try await store.nextReceiptDue(), 5_000_000)
            try expectEqual(try await claim(store, at: 4_999_999), [])
            try expectEqual(try await claim(store, at: 5_000_000), [key])
            try expectEqual(try await claim(store, at: 5_000_000), [])
            // The claim ends by itself.
            try expectEqual(try await store.nextReceiptDue(), 6_000_000)
            try expectEqual(try await claim(store, at: 6_000_000).map(\.id), [key.id])
        },
        ConformanceCheck("replaces the claimed receipt of App Attest, and no other") { store in
            let key = try await registered(in: store)
            let refreshed = RefreshedReceipt(sealed: receipt(2), riskMetric: 3, refreshAt: 7_000_000)
            try await store.replaceReceipt(of: key, by: refreshed)
            let stored = key.with(receipt: receipt(2), refreshAt: 7_000_000, riskMetric: 3)
            try expectEqual(try await store.attestedKey(key.id), stored)
            try await store.postponeReceipt(of: key, until: 9_000_000)
            try await store.dropReceipt(of: key)
            try await store.replaceReceipt(
                of: key, by: RefreshedReceipt(sealed: receipt(1), riskMetric: 9, refreshAt: 9_000_000))
            try expectEqual(try await store.attestedKey(key.id), stored)
        },
        ConformanceCheck("postpones and drops a receipt of App Attest, and keeps the counter") { store in
            let key = try await registered(in: store)
            try await store.replaceReceipt(
                of: key, by: RefreshedReceipt(sealed: receipt(2), riskMetric: 3, refreshAt: 7_000_000))
            let stored = key.with(receipt: receipt(2), refreshAt: 7_000_000, riskMetric: 3)
            try await store.postponeReceipt(of: stored, until: 8_000_000)
            try expectEqual(try await store.nextReceiptDue(), 8_000_000)
            try await store.use(.sample(challenge: 3, counter: 5))
            try await store.dropReceipt(of: stored)
            let dropped = try await store.attestedKey(key.id)
            try expectEqual(dropped?.receipt, nil)
            try expectEqual(dropped?.receiptRefreshAt, nil)
            try expectEqual(dropped?.riskMetric, 3)
            try expectEqual(dropped?.counter, 5)
            try expectEqual(try await store.nextReceiptDue(), nil)
        },
    ]

    /// Registers a key with a receipt, and another key without.
    private static func registered(in store: any ConformingStore) async throws -> AttestedKeyRecord {
        let key = AttestedKeyRecord.sample().with(
            receipt: receipt(1), refreshAt: 5_000_000, riskMetric: nil)
        try await store.register(.sample(key, challenge: 1))
        try await store.register(.sample(.sample(2), challenge: 2))
        return key
    }

    private static func claim(
        _ store: any ConformingStore, at moment: Moment
    ) async throws -> [AttestedKeyRecord] {
        try await store.claimReceipts(
            limit: 8, at: moment, leaseUntil: moment.advanced(byMilliseconds: 1_000_000))
    }

    private static func receipt(_ number: UInt8) -> SealedSecret {
        guard let sealed = SealedSecret([number, 1, 2, 3]) else {
            preconditionFailure("four bytes are a sealed secret")
        }
        return sealed
    }
}
