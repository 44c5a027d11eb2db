public import AppleAccounts

extension AccountStore {
    /// Commits a batch of one command.
    @discardableResult
    public func carryOut(_ command: AccountCommand) async throws -> AccountOutcome {
        let result = try await commit([command])
        try expectEqual(result.results.count, 1)
        switch result.results[0] {
        case .done(let outcome): return outcome
        case .refused(let refusal): throw refusal
        case .failed(let error): throw error
        }
    }

    @discardableResult
    public func signIn(_ command: SignInCommand) async throws -> SignInOutcome {
        guard case .signedIn(let outcome) = try await carryOut(.signIn(command)) else {
            throw ConformanceFailure(description: "a sign-in had another outcome")
        }
        return outcome
    }

    @discardableResult
    public func notify(_ command: NotificationCommand) async throws -> NotificationReceipt {
        guard case .notification(let receipt) = try await carryOut(.notification(command)) else {
            throw ConformanceFailure(description: "a notification had another outcome")
        }
        return receipt
    }

    public func credential(
        _ key: SubjectKey = .sample(), _ clientID: ClientID = "com.example.app"
    ) async throws -> Credential {
        let records = try await credentials(team: key.team, clientID: clientID, subjects: [key.subject])
        try expectEqual(records.count, 1)
        return records[0]
    }

    /// The whole feed.
    public func allEvents() async throws -> [AccountEvent] {
        var events: [AccountEvent] = []
        var page = try await self.events(after: 0, limit: 100, visibleTo: .all)
        events += page.events
        while page.hasMore {
            page = try await self.events(after: page.cursor, limit: 100, visibleTo: .all)
            events += page.events
        }
        return events
    }

    func eventKinds() async throws -> [AccountEvent.Kind] {
        try await allEvents().map(\.kind)
    }
}

extension AccountStore {
    @discardableResult
    public func register(_ command: RegisterKeyCommand) async throws -> RegisteredKey {
        guard case .keyRegistered(let key) = try await carryOut(.registerKey(command)) else {
            throw ConformanceFailure(description: "a registration had another outcome")
        }
        return key
    }

    public func use(_ command: UseProofCommand) async throws {
        guard case .proofUsed = try await carryOut(.useProof(command)) else {
            throw ConformanceFailure(description: "a proof had another outcome")
        }
    }
}
