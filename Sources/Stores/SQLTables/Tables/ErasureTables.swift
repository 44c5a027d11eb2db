public import AppleAccounts

/// The table of erased accounts, by account ID. The IDs no longer identify users.
public typealias ErasureTable = RecordTable<ErasureRecord>

extension ErasureRecord: StoredRecord {
    public typealias Given = (team: TeamID, apps: [ErasedApp], tokens: [ErasureToken])

    public static var table: String { "erasure" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        ErasureRecord(
            id: try column("id", .operational, \.id),
            accountID: try column("account_id", .operational, \.accountID),
            team: column.number("team_id") { $0.team },
            requestedAt: try column("requested_at", .operational, \.requestedAt),
            deadline: try column("deadline", .operational, \.deadline),
            finishedAt: try column("finished_at", .operational, \.finishedAt),
            apps: column.given({ $0.apps }, []), tokens: column.given({ $0.tokens }, []))
    }
}

/// The table of erased accounts' apps, with the facts about each app.
public typealias ErasureAppTable = RecordTable<ErasedApp>

extension ErasedApp: StoredRecord {
    public typealias Given = ClientID

    public static var table: String { "erasure_app" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        column.other("erasure_id", .operational, ErasureID.self)
        return ErasedApp(
            clientID: column.number("app_id") { $0 },
            hadToken: try column("had_token", .operational, \.hadToken),
            stateBefore: try column.code("state", .operational, \.stateBefore),
            reasonBefore: try column.code("reason", .operational, \.reasonBefore),
            refreshTokenCause: try column.code("refresh_token_cause", .operational, \.refreshTokenCause))
    }
}

/// The table of erased accounts' codes and tokens, which the service must revoke at Apple.
public typealias ErasureTokenTable = RecordTable<ErasureToken>

extension ErasureToken: StoredRecord {
    public typealias Given = (clientID: ClientID, primaryClientID: ClientID)

    public static var table: String { "erasure_token" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        let id = try column("id", .operational, \.id)
        column.other("erasure_id", .operational, ErasureID.self)
        let clientID = column.number("client_id") { $0.clientID }
        let primaryClientID = column.number("app_id") { $0.primaryClientID }
        let kind = try column.code("kind", .operational, \.kind)
        // The step's code: 1 exchange, 2 revoke, 3 prove, 4 done.
        let number = try column.part("step", .operational, .range(1...4)) { $0.step.storageCodes.step }
        // The outcome of the work; NULL until the last step is done.
        let outcome = try column.part("outcome", .operational, .range(1...99)) {
            $0.step.storageCodes.outcome
        }
        let step = column.given({ _ in try? Step(storageCode: number, outcome: outcome) }, .revoke)
        return ErasureToken(
            id: id, clientID: clientID, primaryClientID: primaryClientID, kind: kind,
            step: try column.required(step, "step"),
            attempts: try column("attempts", .operational, \.attempts, .range(0...Int64.max)),
            nextAttemptAt: try column("next_attempt_at", .operational, \.nextAttemptAt),
            isClaimed: try column("is_claimed", .operational, \.isClaimed),
            cause: try column("cause", .operational, \.cause, .length(1...ErasureToken.longestCause)),
            sealed: try column("sealed", .secret, \.sealed),
            redirectURI: try column("redirect_uri", .operational, \.redirectURI),
            expiresAt: try column("expires_at", .operational, \.expiresAt))
    }
}
