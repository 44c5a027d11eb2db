public import AppAttestation

/// Stores the keys of App Attest, in addition to the commands that register and use them.
public protocol AppAttestStore: Sendable {
    /// Returns a key; `nil` when it does not exist.
    func attestedKey(_ id: AttestedKeyID) async throws -> AttestedKeyRecord?

    /// Returns a key without waiting. `nil` when it does not exist, or when
    /// this is not possible; then call `attestedKey`.
    func attestedKeyWithoutWaiting(_ id: AttestedKeyID) -> AttestedKeyRecord?

    /// Deletes a bounded number of keys that were last used before a
    /// moment. Returns the number of deleted keys.
    func purgeAttestedKeys(unusedSince moment: Moment) async throws -> Int
}

extension AppAttestStore {
    /// Returns `nil`: a store behind a network has to wait for every response.
    public func attestedKeyWithoutWaiting(_ id: AttestedKeyID) -> AttestedKeyRecord? { nil }
}

/// Stores the receipts of the keys of App Attest, with the keys. Only a worker changes
/// them, and no decision about a request reads them.
public protocol AppReceiptStore: Sendable {
    /// Claims keys whose receipt is due, the longest waiting first. The receipt is due again
    /// from `leaseUntil` on, so a claim expires. Only one worker gets a claim, even across
    /// processes. The records are from before the claim.
    func claimReceipts(limit: Int, at moment: Moment, leaseUntil: Moment) async throws -> [AttestedKeyRecord]

    /// Returns the time at which a receipt is due next; `nil` when there is none.
    func nextReceiptDue() async throws -> Moment?

    /// Ends a claim: stores a newer receipt with its metric. Does nothing when the key was deleted, or
    /// has a receipt other than the claimed receipt.
    func replaceReceipt(of claimed: AttestedKeyRecord, by refreshed: RefreshedReceipt) async throws

    /// Ends a claim: the receipt stays, and is due at `until`. Does nothing in the same cases.
    func postponeReceipt(of claimed: AttestedKeyRecord, until moment: Moment) async throws

    /// Ends a claim: the receipt is deleted, and the metric stays. Does nothing in the same cases.
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
