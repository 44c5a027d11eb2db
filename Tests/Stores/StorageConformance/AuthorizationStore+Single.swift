public import AppleAccounts
public import AuthorizationServer

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
