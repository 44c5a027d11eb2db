/// Stores the positions of receivers in the event feed, and the events that wait for another attempt.
public protocol DeliveryStore: Sendable {
    /// Adds the receivers that are not stored yet, at the end of the feed.
    func addReceivers(_ names: [ReceiverName], at moment: Moment) async throws

    /// Claims those of the receivers that have something to do: a retry that is due, or, with room for more
    /// retries, an event after their cursor. A claim ends by itself at `leaseUntil`. Only one worker gets a
    /// claim, also across processes. Paused receivers are left out.
    func claimReceivers(
        _ names: [ReceiverName], at moment: Moment, leaseUntil: Moment
    ) async throws -> [ClaimedReceiver]

    /// Moves the end of claims, which shows other workers that their holder is at work. Returns the names of the
    /// claims that are still the last ones; the others are left alone.
    func renewClaims(_ claims: [ReceiverRecord], leaseUntil: Moment) async throws -> Set<ReceiverName>

    /// Ends the claim of another worker. Returns `false`, and writes nothing, if the claim was renewed, ended or
    /// replaced since the record was read.
    func endClaim(_ seen: ReceiverRecord, at moment: Moment) async throws -> Bool

    /// Returns those of the receivers that are not paused, each with the time at which it can be claimed with what
    /// is stored now.
    func dueReceivers(_ names: [ReceiverName]) async throws -> [DueReceiver]

    /// Writes what a claim has achieved. Returns `false`, and writes nothing, if the claim is not the last one.
    func settle(_ claimed: ReceiverRecord, _ progress: ReceiverProgress) async throws -> Bool

    /// Returns the events with these numbers, in the order of the feed.
    func events(numbered sequences: [Int64]) async throws -> [AccountEvent]

    /// Returns all stored receivers by name, also those that no configuration has any more.
    func receivers() async throws -> [ClaimedReceiver]

    /// Returns one receiver as it is stored; `nil` when it is not.
    func receiver(_ name: ReceiverName) async throws -> ClaimedReceiver?

    /// Carries out `ReceiverRecord.request` in one transaction.
    func requestVerification(
        _ verification: StreamVerification, of name: ReceiverName, at moment: Moment
    ) async throws -> VerificationRequestResult

    /// Returns the number of the last event before this one that is about a grant of the account to the OAuth
    /// client; `nil` when there is none.
    func grantEventSequence(
        of account: AccountID, for client: OAuthClientID, before sequence: Int64
    ) async throws -> Int64?

    /// Ends a pause. All retries are due, and their time begins anew. Returns `false` for an unknown receiver.
    func resumeReceiver(_ name: ReceiverName, at moment: Moment) async throws -> Bool

    /// Moves the cursor, deletes the retries, and ends a claim and a pause. Returns `false` for an unknown
    /// receiver.
    func moveReceiver(_ name: ReceiverName, to cursor: Int64, at moment: Moment) async throws -> Bool

    /// Returns the number of the last event before the first one that was recorded at this moment or later.
    func eventSequence(before moment: Moment) async throws -> Int64
}

extension DeliveryStore {
    /// Returns the time at which one of the receivers can be claimed next with what is stored now; `nil` when
    /// there is none.
    public func nextReceiverDue(_ names: [ReceiverName]) async throws -> Moment? {
        try await dueReceivers(names).compactMap(\.at).min()
    }
}
