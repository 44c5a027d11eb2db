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

extension ErasureTable {
    func bind(_ erasure: ErasureRecord, team: Int64, to statement: PreparedStatement) {
        statement.bind(erasure.id, to: id)
        statement.bind(erasure.accountID, to: accountID)
        statement.bind(team, to: teamID)
        statement.bind(erasure.requestedAt, to: requestedAt)
        statement.bind(erasure.deadline, to: deadline)
        statement.bind(erasure.finishedAt, to: finishedAt)
    }

    func record(
        _ row: PreparedStatement, _ names: Names, apps: [ErasedApp], grants: [ErasureGrant]
    ) throws -> ErasureRecord {
        ErasureRecord(
            id: try row.required(id), accountID: try row.required(accountID),
            team: try names.teams.name(of: row.required(teamID)), requestedAt: try row.required(requestedAt),
            deadline: try row.required(deadline), finishedAt: row[finishedAt], apps: apps, grants: grants)
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

extension ErasureAppTable {
    func bind(_ erased: ErasedApp, of erasure: ErasureID, app: Int64, to statement: PreparedStatement) {
        statement.bind(erasure, to: erasureID)
        statement.bind(app, to: appID)
        statement.bind(erased.hadToken, to: hadToken)
        statement.bind(erased.stateBefore, to: state)
        statement.bind(erased.reasonBefore, to: reason)
        statement.bind(erased.refreshTokenCause, to: refreshTokenCause)
    }

    func app(_ row: PreparedStatement, _ names: Names) throws -> ErasedApp {
        ErasedApp(
            clientID: try names.apps.name(of: row.required(appID)), hadToken: try row.required(hadToken),
            stateBefore: try row.requiredCode(state), reasonBefore: try row.code(reason),
            refreshTokenCause: try row.code(refreshTokenCause))
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
    /// Binds what changes while a grant is worked on.
    func bindProgress(_ grant: ErasureGrant, to statement: PreparedStatement) {
        let codes = grant.step.storageCodes
        statement.bind(grant.kind, to: kind)
        statement.bind(codes.step, to: step)
        statement.bind(codes.outcome, to: outcome)
        statement.bind(grant.attempts, to: attempts)
        statement.bind(grant.nextAttemptAt, to: nextAttemptAt)
        statement.bind(grant.isClaimed, to: isClaimed)
        statement.bind(grant.cause, to: cause)
        statement.bind(grant.sealed, to: sealed)
    }

    func bind(
        _ grant: ErasureGrant, of erasure: ErasureID, client: Int64, app: Int64,
        to statement: PreparedStatement
    ) {
        bindProgress(grant, to: statement)
        statement.bind(grant.id, to: id)
        statement.bind(erasure, to: erasureID)
        statement.bind(client, to: clientID)
        statement.bind(app, to: appID)
        statement.bind(grant.redirectURI, to: redirectURI)
        statement.bind(grant.expiresAt, to: expiresAt)
    }

    func grant(_ row: PreparedStatement, _ names: Names) throws -> ErasureGrant {
        ErasureGrant(
            id: try row.required(id), clientID: try names.clients.name(of: row.required(clientID)),
            primaryClientID: try names.apps.name(of: row.required(appID)), kind: try row.requiredCode(kind),
            step: try ErasureGrant.Step(storageCode: row[step], outcome: row[outcome]),
            attempts: try row.required(attempts), nextAttemptAt: try row.required(nextAttemptAt),
            isClaimed: try row.required(isClaimed), cause: row[cause], sealed: row[sealed],
            redirectURI: row[redirectURI], expiresAt: row[expiresAt])
    }
}
