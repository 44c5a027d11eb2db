/// Stores receivers' positions in the event feed, and the events that are waiting for another attempt.
public protocol DeliveryStore: Sendable {
    /// Adds receivers that are not stored yet, positioned at the end of the feed.
    func addReceivers(_ names: [ReceiverName], at moment: Moment) async throws

    /// Claims receivers that have work: a retry that is due or, if there is room for more retries, an event
    /// after the cursor. A claim expires at `leaseUntil`. Only one worker gets a claim, even across
    /// processes. Paused receivers are excluded.
    func claimReceivers(
        _ names: [ReceiverName], at moment: Moment, leaseUntil: Moment
    ) async throws -> [ClaimedReceiver]

    /// Extends claims, which shows other workers that the holder is still working. Returns the receivers for
    /// which the claim is still the latest; other claims do not change.
    func renewClaims(_ claims: [ReceiverRecord], leaseUntil: Moment) async throws -> Set<ReceiverName>

    /// Ends another worker's claim. Returns false, and writes nothing, if the claim has been renewed, ended
    /// or replaced since the record was read.
    func endClaim(_ seen: ReceiverRecord, at moment: Moment) async throws -> Bool

    /// Returns the receivers that are not paused, each with its next claim time according to the stored data.
    func dueReceivers(_ names: [ReceiverName]) async throws -> [DueReceiver]

    /// Writes a claim's result. Returns false, and writes nothing, if it is not the receiver's latest claim.
    func settle(_ claimed: ReceiverRecord, _ progress: ReceiverProgress) async throws -> Bool

    /// Returns the events with these sequence numbers, in feed order.
    func events(numbered sequences: [Int64]) async throws -> [AccountEvent]

    /// Returns all stored receivers by name, including those that are no longer configured.
    func receivers() async throws -> [ClaimedReceiver]

    /// Returns a stored receiver; `nil` if it is not stored.
    func receiver(_ name: ReceiverName) async throws -> ClaimedReceiver?

    /// Applies `ReceiverRecord.request` in one transaction.
    func requestVerification(
        _ verification: StreamVerification, of name: ReceiverName, at moment: Moment
    ) async throws -> VerificationRequestResult

    /// Returns the number of the last event before this one that concerns a grant by the account to the OAuth
    /// client; `nil` if there is none.
    func grantEventSequence(
        of account: AccountID, for client: OAuthClientID, before sequence: Int64
    ) async throws -> Int64?

    /// Ends a pause. All retries become due, and their time limits
    /// start again. Returns false if the receiver is unknown.
    func resumeReceiver(_ name: ReceiverName, at moment: Moment) async throws -> Bool

    /// Moves the cursor, deletes the retries, and ends any claim
    /// and pause. Returns false if the receiver is unknown.
    func moveReceiver(_ name: ReceiverName, to cursor: Int64, at moment: Moment) async throws -> Bool

    /// Returns the number of the event just before the first event recorded at this moment or later.
    func eventSequence(before moment: Moment) async throws -> Int64
}

extension DeliveryStore {
    /// Returns the next time at which any of the receivers can be
    /// claimed, according to the stored data; `nil` if there is none.
    public func nextReceiverDue(_ names: [ReceiverName]) async throws -> Moment? {
        try await dueReceivers(names).compactMap(\.at).min()
    }
}
