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
