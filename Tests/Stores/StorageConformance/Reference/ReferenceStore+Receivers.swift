public import AppleAccounts
import Synchronization

extension ReferenceStore: DeliveryStore {
    public func addReceivers(_ names: [ReceiverName], at moment: Moment) async throws {
        state.withLock { state in
            let last = Int64(state.events.count)
            for name in names where state.receivers[name] == nil {
                state.receivers[name] = ClaimedReceiver(
                    record: ReceiverRecord(name: name, cursor: last, notBefore: moment), retries: [])
            }
        }
    }

    public func claimReceivers(
        _ names: [ReceiverName], at moment: Moment, leaseUntil: Moment
    ) async throws -> [ClaimedReceiver] {
        state.withLock { state in
            let last = Int64(state.events.count)
            return names.compactMap { name in
                guard let due = state.receivers[name]?.due(lastSequence: last), due <= moment else {
                    return nil
                }
                state.receivers[name]?.record.claims += 1
                state.receivers[name]?.record.notBefore = leaseUntil
                return state.receivers[name]
            }
        }
    }

    public func renewClaims(
        _ claims: [ReceiverRecord], leaseUntil: Moment
    ) async throws -> Set<ReceiverName> {
        state.withLock { state in
            let held = claims.filter { state.receivers[$0.name]?.record.claims == $0.claims }
            for claim in held { state.receivers[claim.name]?.record.notBefore = leaseUntil }
            return Set(held.map(\.name))
        }
    }

    public func endClaim(_ seen: ReceiverRecord, at moment: Moment) async throws -> Bool {
        state.withLock { state in
            guard let record = state.receivers[seen.name]?.record, record.claims == seen.claims,
                record.notBefore == seen.notBefore
            else { return false }
            state.receivers[seen.name]?.record.notBefore = moment
            return true
        }
    }

    public func dueReceivers(_ names: [ReceiverName]) async throws -> [DueReceiver] {
        state.withLock { state in
            let last = Int64(state.events.count)
            return names.compactMap { state.receivers[$0] }.filter { $0.record.pausedAt == nil }.map {
                DueReceiver(record: $0.record, at: $0.due(lastSequence: last))
            }
        }
    }

    public func settle(_ claimed: ReceiverRecord, _ progress: ReceiverProgress) async throws -> Bool {
        state.withLock { state in
            guard var receiver = state.receivers[claimed.name], receiver.record.claims == claimed.claims
            else { return false }
            receiver.record.cursor = progress.cursor
            receiver.record.notBefore = progress.notBefore
            receiver.record.pausedAt = progress.pausedAt
            if progress.countsAsClaim { receiver.record.claims += 1 }
            if receiver.record.verification?.id == progress.verified { receiver.record.verification = nil }
            let gone = Set(progress.removed + progress.changed.map(\.sequence))
            receiver.retries = (receiver.retries.filter { !gone.contains($0.sequence) } + progress.changed)
                .sorted { $0.sequence < $1.sequence }
            state.receivers[claimed.name] = receiver
            return true
        }
    }

    public func events(numbered sequences: [Int64]) async throws -> [AccountEvent] {
        let wanted = Set(sequences)
        return try await events(after: 0, limit: .max / 2, visibleTo: .all).events
            .filter { wanted.contains($0.sequence) }
    }

    public func receivers() async throws -> [ClaimedReceiver] {
        state.withLock { $0.receivers.values.sorted { $0.record.name < $1.record.name } }
    }

    public func receiver(_ name: ReceiverName) async throws -> ClaimedReceiver? {
        state.withLock { $0.receivers[name] }
    }

    public func requestVerification(
        _ verification: StreamVerification, of name: ReceiverName, at moment: Moment
    ) async throws -> VerificationRequestResult {
        state.withLock {
            $0.receivers[name]?.record.request(verification, at: moment) ?? .unknownReceiver
        }
    }

    public func grantEventSequence(
        of account: AccountID, for client: OAuthClientID, before sequence: Int64
    ) async throws -> Int64? {
        try await events(after: 0, limit: .max / 2, visibleTo: .all).events.last {
            $0.sequence < sequence && $0.accountID == account && $0.grant?.oauthClientID == client
        }?.sequence
    }

    public func resumeReceiver(_ name: ReceiverName, at moment: Moment) async throws -> Bool {
        change(name, .resumed(name, at: moment)) { receiver in
            receiver.record.notBefore = moment
            for index in receiver.retries.indices {
                receiver.retries[index].dueAt = moment
                receiver.retries[index].waitingSince = moment
            }
        }
    }

    public func moveReceiver(_ name: ReceiverName, to cursor: Int64, at moment: Moment) async throws -> Bool {
        change(name, .replayed(name, after: cursor, at: moment)) { receiver in
            receiver.record.cursor = cursor
            receiver.record.notBefore = moment
            receiver.retries = []
        }
    }

    public func eventSequence(before moment: Moment) async throws -> Int64 {
        state.withLock { state in
            Int64(state.events.firstIndex { $0.recordedAt >= moment } ?? state.events.count)
        }
    }

    private func change(
        _ name: ReceiverName, _ entry: AuditEntry, _ body: (inout ClaimedReceiver) -> Void
    ) -> Bool {
        state.withLock { state in
            guard var receiver = state.receivers[name] else { return false }
            receiver.record.claims += 1
            receiver.record.pausedAt = nil
            body(&receiver)
            state.receivers[name] = receiver
            state.append([entry])
            return true
        }
    }
}
