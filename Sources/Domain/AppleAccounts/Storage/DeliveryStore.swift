/// Stores the positions of receivers in the event feed, and the events that wait for another attempt.
public protocol DeliveryStore: Sendable {
    /// Adds the receivers that are not stored yet, at the end of the feed.
    func addReceivers(_ names: [ReceiverName], at moment: Moment) async throws

    /// Claims the receivers that have work: a retry that is due, or, with room for more retries, an
    /// event after their cursor. A claim expires at `leaseUntil`. Only one worker gets a claim, even
    /// across processes. Paused receivers are excluded.
    func claimReceivers(
        _ names: [ReceiverName], at moment: Moment, leaseUntil: Moment
    ) async throws -> [ClaimedReceiver]

    /// Moves the end of claims, which shows other workers that the holder is working. Returns the names of
    /// the claims that are still the last claims; other claims do not change.
    func renewClaims(_ claims: [ReceiverRecord], leaseUntil: Moment) async throws -> Set<ReceiverName>

    /// Ends the claim of another worker. Returns false, and writes nothing, if the claim was renewed,
    /// ended or replaced since the record was read.
    func endClaim(_ seen: ReceiverRecord, at moment: Moment) async throws -> Bool

    /// Returns the receivers that are not paused, each with the time at which it
    /// can be claimed according to the stored data.
    func dueReceivers(_ names: [ReceiverName]) async throws -> [DueReceiver]

    /// Writes the result of a claim. Returns false, and writes nothing, if the claim is not the last claim.
    func settle(_ claimed: ReceiverRecord, _ progress: ReceiverProgress) async throws -> Bool

    /// Returns the events with these numbers, in the order of the feed.
    func events(numbered sequences: [Int64]) async throws -> [AccountEvent]

    /// Returns all stored receivers by name, including receivers that are no longer configured.
    func receivers() async throws -> [ClaimedReceiver]

    /// Returns one stored receiver; `nil` when it is not stored.
    func receiver(_ name: ReceiverName) async throws -> ClaimedReceiver?

    /// Applies `ReceiverRecord.request` in one transaction.
    func requestVerification(
        _ verification: StreamVerification, of name: ReceiverName, at moment: Moment
    ) async throws -> VerificationRequestResult

    /// Returns the number of the last event before this number that is about a grant of the account
    /// to the OAuth client; `nil` when there is none.
    func grantEventSequence(
        of account: AccountID, for client: OAuthClientID, before sequence: Int64
    ) async throws -> Int64?

    /// Ends a pause. All retries are due, and their time begins anew. Returns false for an unknown receiver.
    func resumeReceiver(_ name: ReceiverName, at moment: Moment) async throws -> Bool

    /// Moves the cursor, deletes the retries, and ends a claim and a
    /// pause. Returns false for an unknown receiver.
    func moveReceiver(_ name: ReceiverName, to cursor: Int64, at moment: Moment) async throws -> Bool

    /// Returns the number of the last event before the first event that was recorded at this moment or later.
    func eventSequence(before moment: Moment) async throws -> Int64
}

extension DeliveryStore {
    /// Returns the next time at which a receiver can be claimed according
    /// to the stored data; `nil` when there is none.
    public func nextReceiverDue(_ names: [ReceiverName]) async throws -> Moment? {
        try await dueReceivers(names).compactMap(\.at).min()
    }
}
