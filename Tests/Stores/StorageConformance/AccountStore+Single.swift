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

    /// Commits a batch of one command, and returns the outcome of its kind.
    @discardableResult
    public func carryOut<Typed: TypedCommand>(_ command: Typed) async throws -> Typed.Output
    where Typed.Command == AccountCommand {
        try Typed.requireOutput(try await carryOut(command.untyped))
    }

    @discardableResult
    public func signIn(_ command: SignInCommand) async throws -> SignInOutcome { try await carryOut(command) }

    @discardableResult
    public func notify(_ command: NotificationCommand) async throws -> NotificationReceipt {
        try await carryOut(command)
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
        try await carryOut(command)
    }

    public func use(_ command: UseProofCommand) async throws { try await carryOut(command) }
}
