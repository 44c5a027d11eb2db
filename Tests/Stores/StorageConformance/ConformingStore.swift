public import AppAttestation
public import AppleAccounts
public import AuthorizationServer

/// All protocols that the suite needs from a store.
public typealias ConformingStore = AccountStore & AppleTokenStore & TicketStore & TransferStore
    & NonceKeyStore & AppAttestStore
    & AuthorizationStore & AppCheckHourStore & AppReceiptStore
    & DeliveryStore & AuditStore & GrantInspectionStore & InboxStore & ServiceHourStore

extension AccountStore where Self: AppleTokenStore {
    /// Signs in with a code, and exchanges it for a token of the same number.
    @discardableResult
    public func hold(
        _ number: UInt64 = 1, key: SubjectKey = .sample(), clientID: ClientID = "com.example.app",
        issuedTo: ClientID? = nil, authorizedAt: Moment = 1_000_000, nextCheckAt: Moment = 90_000_000
    ) async throws -> Account {
        let code = AuthorizationCodeOffer.sample(number, clientID: issuedTo ?? clientID)
        let account = try await signIn(
            .sample(key: key, clientID: clientID, authorizedAt: authorizedAt, authorizationCode: code)
        ).account
        let receipt = try await exchange(
            .sample(
                code: number, account: account, clientID: issuedTo ?? clientID, primaryClientID: clientID,
                token: number, authorizedAt: authorizedAt, nextCheckAt: nextCheckAt))
        try expectEqual(receipt, .kept)
        return try unwrap(try await self.account(account.id))
    }

    @discardableResult
    public func exchange(_ command: ExchangeCommand) async throws -> ExchangeReceipt {
        try await carryOut(command)
    }

    @discardableResult
    public func reject(_ command: RejectionCommand) async throws -> RejectionReceipt {
        try await carryOut(command)
    }

    @discardableResult
    public func erase(_ command: EraseCommand) async throws -> ErasureRecord { try await carryOut(command) }

    @discardableResult
    public func transfer(_ command: TransferCommand) async throws -> TransferReceipt {
        try await carryOut(command)
    }

    func refreshToken(
        _ key: SubjectKey = .sample(), _ clientID: ClientID = "com.example.app"
    ) async throws -> RefreshTokenStatus? {
        let credential = try await credential(key, clientID)
        let own = try await account(key)?.credentials.first { $0.clientID == clientID }
        // Two ways to read it, which must not differ.
        try expectEqual(own?.refreshToken, credential.refreshToken)
        return credential.refreshToken
    }

    /// The numbers of the held tokens, found by claiming all tokens far in the future.
    func heldTokens() async throws -> [UniqueID] {
        let all = try await claimChecks(limit: 1000, at: .last, nextAfter: 90_000_000, jitterMilliseconds: 1)
        return all.map(\.tokenID).sorted()
    }

    func waitingCodes() async throws -> [UniqueID] {
        let rows = try await sealedSecrets(after: nil, limit: 1000)
        return rows.filter { $0.cursor.place == .code }.map(\.cursor.id)
    }
}

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

extension AuthorizationStore {
    public func commit(grants commands: [GrantCommand]) async throws -> GrantCommitResult {
        try await withCheckedThrowingContinuation { continuation in
            commit(commands) { continuation.resume(with: $0) }
        }
    }

    /// Commits a batch of one command.
    @discardableResult
    public func carryOut(_ command: GrantCommand) async throws -> GrantOutcome {
        let result = try await commit(grants: [command])
        try expectEqual(result.results.count, 1)
        return try result.results[0].get()
    }

    /// Commits a batch of one command, and returns the outcome of its kind.
    @discardableResult
    public func carryOut<Typed: TypedCommand>(_ command: Typed) async throws -> Typed.Output
    where Typed.Command == GrantCommand {
        try Typed.requireOutput(try await carryOut(command.untyped))
    }

    @discardableResult
    public func authorize(_ command: AuthorizeCommand) async throws -> GrantRecord {
        try await carryOut(command)
    }

    @discardableResult
    public func redeem(_ command: RedeemCommand) async throws -> IssuedTokens { try await carryOut(command) }

    @discardableResult
    public func exchangeToken(_ command: TokenExchangeCommand) async throws -> IssuedTokens {
        try await carryOut(command)
    }

    @discardableResult
    public func refresh(_ command: RefreshCommand) async throws -> IssuedTokens {
        try await carryOut(command)
    }

    public func revoke(_ command: RevokeCommand) async throws {
        try expectEqual(try await carryOut(.revoke(command)), .revoked)
    }

    /// Returns true if tokens of a token family are valid.
    public func isGood(_ line: UInt64, at moment: Moment = 2_400_000) async throws -> Bool {
        try await status(ofFamily: .sample(line))?.isGood(at: moment) ?? false
    }
}

extension AuthorizationStore where Self: AccountStore {
    /// Makes a user who has signed in and agreed, and whose client has redeemed the code.
    @discardableResult
    public func link(
        _ number: UInt64 = 1, key: SubjectKey = .sample(), client: OAuthClientID = "phone",
        scope: String = "openid offline_access", isNative: Bool = true, forGoogle: Bool = false,
        authorizedAt: Moment = 1_000_000, at moment: Moment = 2_000_000
    ) async throws -> GrantRecord {
        let account = try await signIn(.sample(key: key, authorizedAt: authorizedAt)).account
        try await authorize(
            .sample(
                number, account: account.id, client: client, scope: scope, authenticatedAt: authorizedAt,
                at: moment))
        return try await redeem(
            .sample(
                number, client: client, isNative: isNative, forGoogle: forGoogle,
                at: moment.advanced(byMilliseconds: 1000))
        ).grant
    }
}

func expectGrantRefusal(
    _ code: GrantRefusal.Code, line: Int = #line, file: String = #fileID,
    _ action: () async throws -> some Any
) async throws {
    let refusal = try await thrown(GrantRefusal.self, "\(code)", line, file, action)
    try expectEqual(refusal.code, code, line: line, file: file)
}
