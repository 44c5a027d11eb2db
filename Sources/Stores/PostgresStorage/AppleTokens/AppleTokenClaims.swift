import AppleAccounts
import SQLTables

/// Claims codes and checks. Each claim is one statement and its own transaction, which skips rows that
/// another claimer has locked: two claimers, in any processes, never get the same row, and none waits for
/// another. Each order is that of an index, also among rows of one time.
///
/// No claims are ended when a process starts, because they may belong to another replica. They expire by
/// themselves.
enum AppleTokenClaims {
    struct ClaimCodes {
        let statement: TypedStatement<Moment, Int64, Moment>
        let code: CodeColumns
        let user: UserColumns

        init() {
            var list = SelectList()
            code = CodeColumns(&list)
            user = UserColumns(&list)
            // The statement returns the rows before the update, which show an interrupted earlier claim.
            statement = TypedStatement("claim_codes") { moment, limit, leaseEnd in
                """
                WITH due AS MATERIALIZED (
                    SELECT \(list)
                    FROM authorization_code c JOIN client ON client.id = c.client_id
                        JOIN app ON app.id = c.app_id
                        JOIN subject s ON s.account_id = c.account_id JOIN team ON team.id = s.team_id
                    WHERE c.next_attempt_at <= \(moment) ORDER BY c.next_attempt_at, c.id LIMIT \(limit)
                    FOR UPDATE OF c SKIP LOCKED
                ), claimed AS (
                    UPDATE authorization_code c
                    SET attempts = c.attempts + 1, next_attempt_at = \(leaseEnd), is_claimed = true
                    FROM due WHERE c.id = due.id
                )
                SELECT * FROM due ORDER BY next_attempt_at, id
                """
            }
        }
    }

    struct ClaimChecks {
        let statement: TypedStatement<Moment, Int64, Moment, Int64, Moment, [String]>
        let token: TokenColumns
        let user: UserColumns

        init() {
            var list = SelectList()
            token = TokenColumns(&list)
            user = UserColumns(&list)
            // Without jitter, the tokens of users who signed in at the same time would be checked at the same
            // time every day.
            //
            // There are few client IDs. Each is looked at by itself, so that the due tokens of one that rests are
            // not read. The candidates are more than the limit, because other claimers have locked some.
            statement = TypedStatement("claim_checks") { moment, limit, next, jitter, last, resting in
                """
                WITH candidate AS MATERIALIZED (
                    SELECT first.account_id, first.client_id, first.next_check_at
                    FROM client AS c CROSS JOIN LATERAL (
                        SELECT r.account_id, r.client_id, r.next_check_at FROM refresh_token AS r
                        WHERE r.client_id = c.id AND r.next_check_at <= \(moment)
                        ORDER BY r.next_check_at, r.account_id LIMIT \(limit) * 8) AS first
                    WHERE c.name <> ALL (\(resting))
                    ORDER BY first.next_check_at, first.account_id LIMIT \(limit) * 8
                ), due AS MATERIALIZED (
                    SELECT \(list)
                    FROM candidate
                        JOIN refresh_token t
                            ON t.account_id = candidate.account_id AND t.client_id = candidate.client_id
                        JOIN client ON client.id = t.client_id JOIN app ON app.id = t.app_id
                        JOIN subject s ON s.account_id = t.account_id JOIN team ON team.id = s.team_id
                    WHERE t.next_check_at <= \(moment)
                    ORDER BY candidate.next_check_at, candidate.account_id LIMIT \(limit)
                    FOR UPDATE OF t SKIP LOCKED
                ), moved AS (
                    UPDATE refresh_token t
                    SET next_check_at = least(\(next) + floor(random() * \(jitter))::bigint, \(last)),
                        unchecked_since = NULL
                    FROM due WHERE t.account_id = due.account_id AND t.client_id = due.client_id
                )
                SELECT * FROM due ORDER BY next_check_at, account_id
                """
            }
        }
    }

    /// Times at which work is due next: the first entries of three indexes.
    private struct FindDue {
        let call: PostgresCall
        let code: Column<Moment>
        let check: Column<Moment>
        let erasure: Column<Moment>

        init() {
            var list = SelectList()
            code = list.add("(SELECT min(next_attempt_at) FROM authorization_code)", Moment.self, as: "code")
            check = list.add("(SELECT min(next_check_at) FROM refresh_token)", Moment.self, as: "check")
            erasure = list.add(
                "(SELECT min(next_attempt_at) FROM erasure_token WHERE step < 4)", Moment.self, as: "erasure")
            call = PostgresCall(PostgresStatement("due", "SELECT \(list)"))
        }
    }

    struct CountDue {
        let statement: TypedStatement<Moment>
        let columns: BacklogColumns

        init() {
            var found: BacklogColumns?
            statement = TypedStatement("count_due") { moment in
                var list = SelectList()
                found = BacklogColumns(&list, at: "\(moment)")
                return "SELECT \(list)"
            }
            guard let found else { preconditionFailure("the text was not built") }
            columns = found
        }
    }

    static let countDue = CountDue()
    static let claimCodes = ClaimCodes()
    static let claimChecks = ClaimChecks()
    static let findNextCheck = TypedStatement<[String]>("next_check_due") { resting in
        """
        SELECT min(first.next_check_at) FROM client AS c CROSS JOIN LATERAL (
            SELECT r.next_check_at FROM refresh_token AS r WHERE r.client_id = c.id
            ORDER BY r.next_check_at LIMIT 1) AS first
        WHERE c.name <> ALL (\(resting))
        """
    }
    private static let findDue = FindDue()
    private static let releaseCode = TypedStatement<UniqueID, Moment>("release_code") { id, end in
        "UPDATE authorization_code SET next_attempt_at = \(end), is_claimed = false WHERE id = \(id)"
    }
    private static let releaseCheck = TypedStatement<AccountID, UniqueID, Moment, Moment>("release_check") {
        account, token, since, next in
        """
        UPDATE refresh_token SET next_check_at = coalesce(\(next), next_check_at), unchecked_since = \(since)
        WHERE account_id = \(account) AND token_id = \(token)
        """
    }

    static func codes(
        limit: Int, at moment: Moment, leaseUntil: Moment, in session: PostgresSession
    ) throws -> [ClaimedCode] {
        let rows = try session.run(claimCodes.statement(moment, Int64(max(limit, 0)), leaseUntil))
        return try rows.map { row in
            let code = try claimCodes.code.record(row)
            var claimed = code
            claimed.attempts += 1
            claimed.nextAttemptAt = leaseUntil
            claimed.isClaimed = true
            return ClaimedCode(
                record: claimed, key: try claimCodes.user.key(row), isInterrupted: code.isClaimed)
        }
    }

    static func checks(
        limit: Int, at moment: Moment, nextAfter: Moment, jitterMilliseconds: Int64,
        except resting: Set<ClientID>, in session: PostgresSession
    ) throws -> [ClaimedCheck] {
        let rows = try session.run(
            claimChecks.statement(
                moment, Int64(max(limit, 0)), nextAfter, max(jitterMilliseconds, 1), .last,
                resting.map(\.rawValue)))
        return try rows.map { row in
            ClaimedCheck(try claimChecks.token.record(row), key: try claimChecks.user.key(row))
        }
    }

    static func nextCheck(
        except resting: Set<ClientID>, in session: PostgresSession
    ) throws -> Moment? {
        try session.run(findNextCheck(resting.map(\.rawValue))).onlyValue(as: Moment.self)
    }

    static func nextDue(in session: PostgresSession) throws -> AppleTokensDue {
        guard let row = try session.run(findDue.call).first else { return AppleTokensDue() }
        return AppleTokensDue(
            code: row[findDue.code], check: row[findDue.check], erasure: row[findDue.erasure])
    }

    static func backlog(at moment: Moment, in session: PostgresSession) throws -> AppleTokensBacklog {
        let rows = try session.run(countDue.statement(moment))
        return countDue.columns.backlog(rows[0], at: moment)
    }

    static func releaseCode(_ id: UniqueID, until moment: Moment) -> PostgresCall {
        releaseCode(id, moment)
    }

    static func releaseCheck(_ check: ClaimedCheck, until moment: Moment?) -> PostgresCall {
        releaseCheck(check.accountID, check.tokenID, check.dueSince, moment)
    }
}
