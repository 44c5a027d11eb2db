public import AppAttestation

/// Stores the keys of App Attest, beside the commands that register and use them.
public protocol AppAttestStore: Sendable {
    /// Returns `nil` when there is no such key.
    func attestedKey(_ id: AttestedKeyID) async throws -> AttestedKeyRecord?

    /// Returns a key without waiting. `nil` when there is no such key, or when this is not possible; then
    /// call `attestedKey`.
    func attestedKeyWithoutWaiting(_ id: AttestedKeyID) -> AttestedKeyRecord?

    /// Deletes keys that were last used before a moment, a bounded number per call. Returns the number of
    /// deleted keys.
    func purgeAttestedKeys(unusedSince moment: Moment) async throws -> Int
}

extension AppAttestStore {
    /// Returns `nil`: a store behind a network has to wait for every response.
    public func attestedKeyWithoutWaiting(_ id: AttestedKeyID) -> AttestedKeyRecord? { nil }
}

/// Stores the receipts of the keys of App Attest, beside the keys. Only a worker changes them, and nothing
/// that decides about a request reads them.
public protocol AppReceiptStore: Sendable {
    /// Claims keys whose receipt is due, the longest waiting first. The receipt is due again from `leaseUntil`
    /// on, so a claim ends by itself. Only one worker gets a claim, also across processes. The records are those
    /// from before the claim.
    func claimReceipts(limit: Int, at moment: Moment, leaseUntil: Moment) async throws -> [AttestedKeyRecord]

    /// Returns the time at which a receipt is due next; `nil` when there is none.
    func nextReceiptDue() async throws -> Moment?

    /// Ends a claim: stores a newer receipt with its metric. Does nothing when the key is gone, or has another
    /// receipt than the claimed one.
    func replaceReceipt(of claimed: AttestedKeyRecord, by refreshed: RefreshedReceipt) async throws

    /// Ends a claim: the receipt stays, and is due at `until`. Does nothing as above.
    func postponeReceipt(of claimed: AttestedKeyRecord, until moment: Moment) async throws

    /// Ends a claim: the receipt is deleted, and the metric stays. Does nothing as above.
    func dropReceipt(of claimed: AttestedKeyRecord) async throws
}

/// A receipt that Apple has exchanged, sealed.
public struct RefreshedReceipt: Sendable, Hashable {
    public let sealed: SealedSecret
    public let riskMetric: Int64
    public let refreshAt: Moment

    public init(sealed: SealedSecret, riskMetric: Int64, refreshAt: Moment) {
        (self.sealed, self.riskMetric, self.refreshAt) = (sealed, riskMetric, refreshAt)
    }
}
