public import AppleAccounts

/// The table of erased accounts, by account ID. The IDs no longer identify users.
public struct ErasureTable: Table {
    public static let name = "erasure"

    public let id: Column<ErasureID>
    public let accountID: Column<AccountID>
    public let teamID: Column<Int64>
    public let requestedAt: Column<Moment>
    public let deadline: Column<Moment>
    public let finishedAt: Column<Moment>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required)
        accountID = columns("account_id", .operational, .required)
        teamID = columns("team_id", .operational, .required, .nameNumber)
        requestedAt = columns("requested_at", .operational, .required)
        deadline = columns("deadline", .operational, .required)
        finishedAt = columns("finished_at", .operational, .optional)
    }
}

extension ErasureTable {
    /// Writes all columns except the team number.
    @inlinable public func write(_ erasure: ErasureRecord, to row: some WritableRow) {
        row.set(id, erasure.id)
        row.set(accountID, erasure.accountID)
        row.set(requestedAt, erasure.requestedAt)
        row.set(deadline, erasure.deadline)
        row.set(finishedAt, erasure.finishedAt)
    }

    @inlinable public func record(
        _ row: some ReadableRow, team: TeamID, apps: [ErasedApp], tokens: [ErasureToken]
    ) throws(StorageError) -> ErasureRecord {
        ErasureRecord(
            id: try row.required(id), accountID: try row.required(accountID),
            team: team, requestedAt: try row.required(requestedAt),
            deadline: try row.required(deadline), finishedAt: row[finishedAt], apps: apps, tokens: tokens)
    }
}

/// The table of erased accounts' apps, with the facts about each app.
public struct ErasureAppTable: Table {
    public static let name = "erasure_app"

    public let erasureID: Column<ErasureID>
    public let appID: Column<Int64>
    public let hadToken: Column<Bool>
    public let state: Column<CredentialState>
    public let reason: Column<CredentialReason>
    public let refreshTokenCause: Column<RefreshTokenCause>

    public init(_ columns: inout ColumnList) {
        erasureID = columns("erasure_id", .operational, .required)
        appID = columns("app_id", .operational, .required, .nameNumber)
        hadToken = columns("had_token", .operational, .required)
        state = columns("state", .operational, .required)
        reason = columns("reason", .operational, .optional)
        refreshTokenCause = columns("refresh_token_cause", .operational, .optional)
    }
}

extension ErasureAppTable {
    /// Writes all columns except the app number.
    @inlinable public func write(_ erased: ErasedApp, of erasure: ErasureID, to row: some WritableRow) {
        row.set(erasureID, erasure)
        row.set(hadToken, erased.hadToken)
        row.set(state, erased.stateBefore)
        row.set(reason, erased.reasonBefore)
        row.set(refreshTokenCause, erased.refreshTokenCause)
    }

    @inlinable public func app(_ row: some ReadableRow, clientID: ClientID) throws(StorageError) -> ErasedApp
    {
        ErasedApp(
            clientID: clientID, hadToken: try row.required(hadToken),
            stateBefore: try row.requiredCode(state), reasonBefore: try row.code(reason),
            refreshTokenCause: try row.code(refreshTokenCause))
    }
}

/// The table of erased accounts' codes and tokens, which the service must revoke at Apple.
public struct ErasureTokenTable: Table {
    public static let name = "erasure_token"

    public let id: Column<UniqueID>
    public let erasureID: Column<ErasureID>
    public let clientID: Column<Int64>
    public let appID: Column<Int64>
    public let kind: Column<SealedPurpose>
    /// The step's code: 1 exchange, 2 revoke, 3 prove, 4 done.
    public let step: Column<Int64>
    /// The outcome of the work; NULL until the last step is done.
    public let outcome: Column<Int64>
    public let attempts: Column<Int64>
    public let nextAttemptAt: Column<Moment>
    public let isClaimed: Column<Bool>
    public let cause: Column<String>
    public let sealed: Column<SealedSecret>
    public let redirectURI: Column<String>
    public let expiresAt: Column<Moment>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required)
        erasureID = columns("erasure_id", .operational, .required)
        clientID = columns("client_id", .operational, .required, .nameNumber)
        appID = columns("app_id", .operational, .required, .nameNumber)
        kind = columns("kind", .operational, .required)
        step = columns("step", .operational, .required, .range(1...4))
        outcome = columns("outcome", .operational, .optional, .range(1...99))
        attempts = columns("attempts", .operational, .required, .range(0...Int64.max))
        nextAttemptAt = columns("next_attempt_at", .operational, .required)
        isClaimed = columns("is_claimed", .operational, .required)
        cause = columns("cause", .operational, .optional, .length(1...64))
        sealed = columns("sealed", .secret, .optional)
        redirectURI = columns("redirect_uri", .operational, .optional)
        expiresAt = columns("expires_at", .operational, .optional)
    }
}

extension ErasureTokenTable {
    /// Writes all columns except the client ID and app numbers.
    @inlinable public func write(_ token: ErasureToken, of erasure: ErasureID, to row: some WritableRow) {
        row.set(id, token.id)
        row.set(erasureID, erasure)
        row.set(kind, token.kind)
        let codes = token.step.storageCodes
        row.set(step, codes.step)
        row.set(outcome, codes.outcome)
        row.set(attempts, token.attempts)
        row.set(nextAttemptAt, token.nextAttemptAt)
        row.set(isClaimed, token.isClaimed)
        row.set(cause, token.cause)
        row.set(sealed, token.sealed)
        row.set(redirectURI, token.redirectURI)
        row.set(expiresAt, token.expiresAt)
    }

    @inlinable public func token(
        _ row: some ReadableRow, clientID: ClientID, primaryClientID: ClientID
    ) throws(StorageError) -> ErasureToken {
        ErasureToken(
            id: try row.required(id), clientID: clientID, primaryClientID: primaryClientID,
            kind: try row.requiredCode(kind),
            step: try ErasureToken.Step(storageCode: row[step], outcome: row[outcome]),
            attempts: try row.required(attempts), nextAttemptAt: try row.required(nextAttemptAt),
            isClaimed: try row.required(isClaimed), cause: row[cause], sealed: row[sealed],
            redirectURI: row[redirectURI], expiresAt: row[expiresAt])
    }
}
