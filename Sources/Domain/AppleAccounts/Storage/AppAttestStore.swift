public import AppAttestation

/// Reads and purges App Attest keys. Commands register and use them.
public protocol AppAttestStore: Sendable {
    /// Returns a key; `nil` if it does not exist.
    func attestedKey(_ id: AttestedKeyID) async throws -> AttestedKeyRecord?

    /// Returns a key without waiting; `nil` if it does not exist or the store would have to wait. Then call
    /// `attestedKey`.
    func attestedKeyWithoutWaiting(_ id: AttestedKeyID) -> AttestedKeyRecord?

    /// Deletes a limited number of keys that have not been used
    /// since a moment. Returns the number of deleted keys.
    func purgeAttestedKeys(unusedSince moment: Moment) async throws -> Int
}

extension AppAttestStore {
    /// Returns `nil`, because a store behind a network has to wait for every response.
    public func attestedKeyWithoutWaiting(_ id: AttestedKeyID) -> AttestedKeyRecord? { nil }
}

/// Stores the receipts of App Attest keys, along with the keys. Only a worker changes receipts, and no
/// decision about a request depends on them.
public protocol AppReceiptStore: Sendable {
    /// Claims keys whose receipts are due, the longest waiting first. A claimed receipt is due again from
    /// `leaseUntil`, so the claim expires. Only one worker gets a claim, even across processes. The records
    /// returned are from before the claim.
    func claimReceipts(limit: Int, at moment: Moment, leaseUntil: Moment) async throws -> [AttestedKeyRecord]

    /// Returns the due time of the next receipt; `nil` if there is none.
    func nextReceiptDue() async throws -> Moment?

    /// Ends a claim by storing a newer receipt with its metric. Does nothing if the key was deleted, or now
    /// has a receipt other than the claimed receipt.
    func replaceReceipt(of claimed: AttestedKeyRecord, by refreshed: RefreshedReceipt) async throws

    /// Ends a claim, keeping the receipt, which is due at `until`. Does nothing in the same cases as
    /// `replaceReceipt`.
    func postponeReceipt(of claimed: AttestedKeyRecord, until moment: Moment) async throws

    /// Ends a claim by deleting the receipt but keeping the metric. Does nothing in the same cases as
    /// `replaceReceipt`.
    func dropReceipt(of claimed: AttestedKeyRecord) async throws
}

/// A receipt that Apple has renewed, sealed.
public struct RefreshedReceipt: Sendable, Hashable {
    public let sealed: SealedSecret
    public let riskMetric: Int64
    public let refreshAt: Moment

    public init(sealed: SealedSecret, riskMetric: Int64, refreshAt: Moment) {
        (self.sealed, self.riskMetric, self.refreshAt) = (sealed, riskMetric, refreshAt)
    }
}
