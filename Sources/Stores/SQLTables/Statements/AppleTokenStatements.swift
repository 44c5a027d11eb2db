public import AppleAccounts

/// Statements that claim authorization codes and refresh-token checks, and that find due work; for both
/// databases.
///
/// Two processes never claim the same row, and no claim waits for another. Every sort order matches an index
/// completely, even among rows with the same time.
///
/// On PostgreSQL, claimed rows stay locked until the claim is committed, one round trip later. If the process
/// stops in between, the locks last at most `idle_in_transaction_session_timeout`.
///
/// On PostgreSQL, a starting process does not end claims, because they may belong to another replica. Claims
/// expire instead.
public enum AppleTokenStatements {
    public typealias CodeColumns = NamedColumns<AuthorizationCodeRecord>
    public typealias TokenColumns = NamedColumns<RefreshTokenRecord>

    typealias DueCode = (code: CodeColumns, user: UserColumns)
    typealias DueCheck = (token: TokenColumns, user: UserColumns)

    static let dueCodes = SQLStatement<DueCode, Moment, Int64>("due_codes") {
        (CodeColumns(&$0, as: "c"), UserColumns(&$0))
    } sql: { dialect, list, now, limit in
        """
        SELECT \(list) FROM authorization_code c JOIN subject s ON s.account_id = c.account_id
        WHERE c.next_attempt_at <= \(now)
        ORDER BY c.next_attempt_at, c.id LIMIT \(limit) \(dialect.skippingLocked(of: "c"))
        """
    }
    static let claimCode = SQLStatement<Void, UniqueID, Moment>("claim_code") { _, id, end in
        """
        UPDATE authorization_code SET attempts = attempts + 1, next_attempt_at = \(end), is_claimed = true
        WHERE id = \(id)
        """
    }
    static let releaseCode = SQLStatement<Void, UniqueID, Moment>("release_code") { _, id, end in
        "UPDATE authorization_code SET next_attempt_at = \(end), is_claimed = false WHERE id = \(id)"
    }

    // There are few client IDs, so the statement reads the tokens of each separately. It never reads due
    // tokens of a paused client ID, even if there are many. PostgreSQL does this in one statement; SQLite has
    // no LATERAL, so it runs one statement for each client ID.
    private static let clients = SQLStatement<Column<Int64>, SQLList>("checked_clients", only: .sqlite) {
        $0.add("id", Int64.self, as: "id")
    } sql: { dialect, list, resting in
        "SELECT \(list) FROM client WHERE name NOT IN \(dialect.members(of: resting))"
    }
    static let dueChecksOfClient = SQLStatement<DueCheck, Moment, Int64, Int64>(
        "due_checks_of_client", only: .sqlite
    ) {
        (TokenColumns(&$0, as: "t"), UserColumns(&$0))
    } sql: { _, list, now, limit, client in
        """
        SELECT \(list) FROM refresh_token t JOIN subject s ON s.account_id = t.account_id
        WHERE t.client_id = \(client) AND t.next_check_at <= \(now)
        ORDER BY t.next_check_at, t.account_id LIMIT \(limit)
        """
    }
    // The statement reads more candidates than the limit, because other processes may have locked some of
    // them.
    static let dueChecks = SQLStatement<DueCheck, Moment, Int64, SQLList>("due_checks", only: .postgres) {
        (TokenColumns(&$0, as: "t"), UserColumns(&$0))
    } sql: { dialect, list, now, limit, resting in
        """
        WITH candidate AS MATERIALIZED (
            SELECT first.account_id, first.client_id, first.next_check_at
            FROM client AS c CROSS JOIN LATERAL (
                SELECT r.account_id, r.client_id, r.next_check_at FROM refresh_token AS r
                WHERE r.client_id = c.id AND r.next_check_at <= \(now)
                ORDER BY r.next_check_at, r.account_id LIMIT \(limit) * 8) AS first
            WHERE c.name NOT IN \(dialect.members(of: resting))
            ORDER BY first.next_check_at, first.account_id LIMIT \(limit) * 8)
        SELECT \(list)
        FROM candidate
            JOIN refresh_token t ON t.account_id = candidate.account_id AND t.client_id = candidate.client_id
            JOIN subject s ON s.account_id = t.account_id
        WHERE t.next_check_at <= \(now)
        ORDER BY candidate.next_check_at, candidate.account_id
        LIMIT \(limit) \(dialect.skippingLocked(of: "t"))
        """
    }
    static let moveCheck = SQLStatement<Void, AccountID, UniqueID, Moment>("move_check") {
        _, account, token, next in
        """
        UPDATE refresh_token SET next_check_at = \(next), unchecked_since = NULL
        WHERE account_id = \(account) AND token_id = \(token)
        """
    }
    static let releaseCheck = SQLStatement<Void, AccountID, UniqueID, Moment, Moment>(
        "release_check"
    ) { _, account, token, since, next in
        """
        UPDATE refresh_token SET next_check_at = coalesce(\(next), next_check_at), unchecked_since = \(since)
        WHERE account_id = \(account) AND token_id = \(token)
        """
    }
    static let nextCheck = SQLStatement<Void, SQLList>("next_check_due") { dialect, resting in
        """
        SELECT min((
            SELECT r.next_check_at FROM refresh_token AS r WHERE r.client_id = c.id
            ORDER BY r.next_check_at LIMIT 1))
        FROM client AS c WHERE c.name NOT IN \(dialect.members(of: resting))
        """
    }

    /// The query for the times at which the next code, check and erasure are due. Reads one entry per index.
    fileprivate static let nextDue = SQLStatement<
        (code: Column<Moment>, check: Column<Moment>, erasure: Column<Moment>)
    >("next_due") {
        (
            $0.add("(SELECT min(next_attempt_at) FROM authorization_code)", Moment.self, as: "code"),
            $0.add("(SELECT min(next_check_at) FROM refresh_token)", Moment.self, as: "check"),
            $0.add(
                "(SELECT min(next_attempt_at) FROM erasure_token WHERE step < 4)", Moment.self, as: "erasure")
        )
    } sql: { _, list in
        "SELECT \(list)"
    }

    static func dueChecks(
        limit: Int64, at moment: Moment, except resting: Set<ClientID>, in session: any SQLSession
    ) throws -> [ClaimedCheck] {
        func checks(_ call: SQLCall, _ columns: DueCheck) throws -> [ClaimedCheck] {
            try session.rows(call) {
                ClaimedCheck(try columns.token.record($0), key: try columns.user.key($0))
            }
        }
        let resting = SQLList(resting.map(\.rawValue))
        switch session.dialect {
        case .sqlite:
            let numbers = try session.rows(clients(resting)) { try $0.required(clients.columns) }
            let due = try numbers.flatMap {
                try checks(dueChecksOfClient(moment, limit, $0), dueChecksOfClient.columns)
            }
            return Array(
                due.sorted { ($0.dueSince, $0.accountID.uniqueID) < ($1.dueSince, $1.accountID.uniqueID) }
                    .prefix(Int(limit)))
        case .postgres: return try checks(dueChecks(moment, limit, resting), dueChecks.columns)
        }
    }
}

/// The columns of Apple's codes or tokens, with their client ID and app names.
public struct NamedColumns<Record: StoredRecord>: Sendable
where Record.Given == (clientID: ClientID, primaryClientID: ClientID) {
    @usableFromInline let table: RecordTable<Record>
    @usableFromInline let client: Column<ClientID>
    @usableFromInline let app: Column<ClientID>

    /// - Parameter alias: The table's alias in the statement.
    public init(_ list: inout SelectList, as alias: String) {
        table = list.add(RecordTable<Record>.self, as: alias, .withoutNumbers)
        client = list.add(
            "(SELECT name FROM client WHERE id = \(alias).client_id)", ClientID.self, as: "client")
        app = list.add("(SELECT name FROM app WHERE id = \(alias).app_id)", ClientID.self, as: "app")
    }

    @inlinable
    public func record(_ row: some ReadableRow) throws(StorageError) -> Record {
        try table.record(row, (row.required(client), row.required(app)))
    }
}

/// The key columns for users with an account. The subject table has the alias `s`.
struct UserColumns: Sendable {
    private let team: Column<TeamID>
    private let subject: Column<String>

    init(_ list: inout SelectList) {
        team = list.add("(SELECT name FROM team WHERE id = s.team_id)", TeamID.self, as: "team")
        subject = list.add(SubjectTable.self, as: "s", .only { [$0.subject] }).subject
    }

    func key(_ row: some ReadableRow) throws(StorageError) -> SubjectKey {
        SubjectKey(team: try row.required(team), subject: try row.requiredSubject(subject))
    }
}

extension ReadableRow {
    /// Returns the `sub` of a user with an account.
    @inlinable
    public func requiredSubject(_ column: Column<String>) throws(StorageError) -> AppleSubject {
        guard let subject = AppleSubject(try required(column)) else {
            throw StorageError(
                .corrupted, detail: "expected a sub in a subject with an account; restore a backup")
        }
        return subject
    }
}

extension AppleTokenStore where Self: SQLStore {
    public func claimCodes(
        limit: Int, at moment: Moment, leaseUntil: Moment
    ) async throws -> [ClaimedCode] {
        let find = AppleTokenStatements.dueCodes
        return try await transaction { session in
            let due = try session.rows(find(moment, Int64(max(limit, 0)))) { row in
                let code = try find.columns.code.record(row)
                var claimed = code
                claimed.attempts += 1
                claimed.nextAttemptAt = leaseUntil
                claimed.isClaimed = true
                return ClaimedCode(
                    record: claimed, key: try find.columns.user.key(row), isInterrupted: code.isClaimed)
            }
            for code in due {
                try session.runLast(AppleTokenStatements.claimCode(code.record.id, leaseUntil))
            }
            return due
        }
    }

    public func releaseCode(_ id: UniqueID, until moment: Moment) async throws {
        try await run(AppleTokenStatements.releaseCode(id, moment))
    }

    public func claimChecks(
        limit: Int, at moment: Moment, nextAfter: Moment, jitterMilliseconds: Int64,
        except resting: Set<ClientID>
    ) async throws -> [ClaimedCheck] {
        try await transaction { session in
            let due = try AppleTokenStatements.dueChecks(
                limit: Int64(max(limit, 0)), at: moment, except: resting, in: session)
            for check in due {
                // Without jitter, the tokens of users who signed in at the same time would all be checked at
                // the same time every day.
                let jitter = Int64.random(in: 0..<max(jitterMilliseconds, 1))
                try session.runLast(
                    AppleTokenStatements.moveCheck(
                        check.accountID, check.tokenID, nextAfter.advanced(byMilliseconds: jitter)))
            }
            return due
        }
    }

    public func nextCheckDue(except resting: Set<ClientID>) async throws -> Moment? {
        let call = AppleTokenStatements.nextCheck(SQLList(resting.map(\.rawValue)))
        return try await snapshot { try $0.value(call, as: Moment.self) }
    }

    public func releaseCheck(_ check: ClaimedCheck, until moment: Moment?) async throws {
        try await run(
            AppleTokenStatements.releaseCheck(check.accountID, check.tokenID, check.dueSince, moment))
    }

    public func nextDue() async throws -> AppleTokensDue {
        let (find, columns) = (AppleTokenStatements.nextDue, AppleTokenStatements.nextDue.columns)
        return try await snapshot { session in
            try session.rows(find()) {
                AppleTokensDue(code: $0[columns.code], check: $0[columns.check], erasure: $0[columns.erasure])
            }.first ?? AppleTokensDue()
        }
    }

    public func backlog(at moment: Moment) async throws -> AppleTokensBacklog {
        let count = BacklogColumns.count
        return try await snapshot { session in
            try session.rows(count.statement(moment)) { count.columns.backlog($0, at: moment) }.first
                ?? AppleTokensBacklog()
        }
    }
}
