import AppleAccounts
import SQLTables

/// The accounts that were erased, by account IDs that lead to no person any more.
struct ErasureTable: Table {
    static let name = "erasure"

    let id: Column<ErasureID>
    let accountID: Column<AccountID>
    let teamID: Column<Int64>
    let requestedAt: Column<Moment>
    let deadline: Column<Moment>
    let finishedAt: Column<Moment>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        accountID = columns("account_id", .operational)
        teamID = columns("team_id", .operational)
        requestedAt = columns("requested_at", .operational)
        deadline = columns("deadline", .operational)
        finishedAt = columns("finished_at", .operational)
    }
}

/// The apps that an erased account had, with what was known for each.
struct ErasureAppTable: Table {
    static let name = "erasure_app"

    let erasureID: Column<ErasureID>
    let appID: Column<Int64>
    let hadToken: Column<Bool>
    let state: Column<CredentialState>
    let reason: Column<CredentialReason>
    let refreshTokenCause: Column<RefreshTokenCause>

    init(_ columns: inout ColumnList) {
        erasureID = columns("erasure_id", .operational)
        appID = columns("app_id", .operational)
        hadToken = columns("had_token", .operational)
        state = columns("state", .operational)
        reason = columns("reason", .operational)
        refreshTokenCause = columns("refresh_token_cause", .operational)
    }
}

/// The codes and tokens of erased accounts, on their way to be revoked at Apple.
struct ErasureGrantTable: Table {
    static let name = "erasure_grant"

    let id: Column<UniqueID>
    let erasureID: Column<ErasureID>
    let clientID: Column<Int64>
    let appID: Column<Int64>
    let kind: Column<SealedPurpose>
    /// 1 exchange, 2 revoke, 3 prove, 4 done.
    let step: Column<Int64>
    /// Only of what is done.
    let outcome: Column<Int64>
    let attempts: Column<Int64>
    let nextAttemptAt: Column<Moment>
    let isClaimed: Column<Bool>
    let cause: Column<String>
    let sealed: Column<SealedSecret>
    let redirectURI: Column<String>
    let expiresAt: Column<Moment>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        erasureID = columns("erasure_id", .operational)
        clientID = columns("client_id", .operational)
        appID = columns("app_id", .operational)
        kind = columns("kind", .operational)
        step = columns("step", .operational)
        outcome = columns("outcome", .operational)
        attempts = columns("attempts", .operational)
        nextAttemptAt = columns("next_attempt_at", .operational)
        isClaimed = columns("is_claimed", .operational)
        cause = columns("cause", .operational)
        sealed = columns("sealed", .secret)
        redirectURI = columns("redirect_uri", .operational)
        expiresAt = columns("expires_at", .operational)
    }
}

extension ColumnChoice where T == ErasureGrantTable {
    /// What changes while a grant is worked on.
    static var progress: Self {
        only {
            [$0.kind, $0.step, $0.outcome, $0.attempts, $0.nextAttemptAt, $0.isClaimed, $0.cause, $0.sealed]
        }
    }
    static var grant: Self { except { [$0.erasureID] } }
}

extension ErasureGrantTable {
    /// Sets what changes while a grant is worked on.
    func setProgress(_ grants: [ErasureGrant], in values: inout RowValues) {
        let codes = grants.map(\.step.storageCodes)
        values.set(kind, grants.map(\.kind))
        values.set(step, codes.map(\.step))
        values.set(outcome, codes.map(\.outcome))
        values.set(attempts, grants.map(\.attempts))
        values.set(nextAttemptAt, grants.map(\.nextAttemptAt))
        values.set(isClaimed, grants.map(\.isClaimed))
        values.set(cause, grants.map(\.cause))
        values.set(sealed, grants.map(\.sealed))
    }
}
