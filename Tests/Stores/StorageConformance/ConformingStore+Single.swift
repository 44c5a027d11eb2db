public import AppleAccounts

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
