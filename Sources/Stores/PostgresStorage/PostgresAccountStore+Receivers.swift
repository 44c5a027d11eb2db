public import AppleAccounts

extension PostgresAccountStore: DeliveryStore {
    public func addReceivers(_ names: [ReceiverName], at moment: Moment) async throws {
        try await pool.run { try ReceiverRows.add(names, at: moment, in: $0) }
    }

    public func claimReceivers(
        _ names: [ReceiverName], at moment: Moment, leaseUntil: Moment
    ) async throws -> [ClaimedReceiver] {
        try await pool.run { try ReceiverRows.claim(names, at: moment, leaseUntil: leaseUntil, in: $0) }
    }

    public func renewClaims(
        _ claims: [ReceiverRecord], leaseUntil: Moment
    ) async throws -> Set<ReceiverName> {
        try await pool.run { try ReceiverRows.renew(claims, until: leaseUntil, in: $0) }
    }

    public func endClaim(_ seen: ReceiverRecord, at moment: Moment) async throws -> Bool {
        try await pool.run { try ReceiverRows.endClaim(seen, at: moment, in: $0) }
    }

    public func dueReceivers(_ names: [ReceiverName]) async throws -> [DueReceiver] {
        try await pool.run { session in
            let last = try EventCounter.lastSequence(in: session) ?? 0
            return try ReceiverRows.active(names, in: session).map {
                DueReceiver(record: $0.record, at: $0.due(lastSequence: last))
            }
        }
    }

    public func settle(_ claimed: ReceiverRecord, _ progress: ReceiverProgress) async throws -> Bool {
        try await pool.run { try ReceiverRows.settle(claimed, progress, in: $0) }
    }

    public func events(numbered sequences: [Int64]) async throws -> [AccountEvent] {
        try await pool.run {
            try EventReader(names: $0.names).events(numbered: sequences, in: $0)
        }
    }

    public func receivers() async throws -> [ClaimedReceiver] {
        try await pool.run { try ReceiverRows.all(in: $0) }
    }

    public func receiver(_ name: ReceiverName) async throws -> ClaimedReceiver? {
        try await pool.run { try ReceiverRows.one(name, in: $0) }
    }

    public func requestVerification(
        _ verification: StreamVerification, of name: ReceiverName, at moment: Moment
    ) async throws -> VerificationRequestResult {
        try await pool.run { try ReceiverRows.request(verification, of: name, at: moment, in: $0) }
    }

    public func grantEventSequence(
        of account: AccountID, for client: OAuthClientID, before sequence: Int64
    ) async throws -> Int64? {
        try await pool.run {
            try ReceiverRows.grantEvent(of: account, for: client, before: sequence, in: $0)
        }
    }

    public func resumeReceiver(_ name: ReceiverName, at moment: Moment) async throws -> Bool {
        let entry = AuditEntry.resumed(name, at: moment)
        return try await pool.run { try ReceiverRows.resume(name, at: moment, entry, in: $0) }
    }

    public func moveReceiver(_ name: ReceiverName, to cursor: Int64, at moment: Moment) async throws -> Bool {
        let entry = AuditEntry.replayed(name, after: cursor, at: moment)
        return try await pool.run { try ReceiverRows.move(name, to: cursor, at: moment, entry, in: $0) }
    }

    public func eventSequence(before moment: Moment) async throws -> Int64 {
        try await pool.run { try ReceiverRows.eventSequence(before: moment, in: $0) }
    }
}
