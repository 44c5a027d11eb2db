public import AppleAccounts

/// Statements for erasures and their apps and tokens, for both databases.
public enum ErasureStatements {
    fileprivate typealias TokenColumns = NamedColumns<ErasureToken>

    fileprivate struct ErasureColumns {
        let id: Column<ErasureID>
        private let table: ErasureTable
        private let team: Column<TeamID>

        init(_ list: inout SelectList) {
            table = list.add(ErasureTable.self, as: "e", .withoutNumbers)
            id = table.id
            team = list.add("(SELECT name FROM team WHERE id = e.team_id)", TeamID.self, as: "team")
        }

        func record(
            _ row: any ReadableRow, apps: [ErasedApp] = [], tokens: [ErasureToken] = []
        ) throws -> ErasureRecord {
            try table.record(row, (row.required(team), apps, tokens))
        }
    }

    private static func find<ID: ColumnValue>(by column: String) -> SQLStatement<ErasureColumns, ID> {
        SQLStatement("erasure_by_\(column)") {
            ErasureColumns(&$0)
        } sql: { _, list, id in
            "SELECT \(list) FROM erasure e WHERE e.\(column) = \(id)"
        }
    }

    fileprivate static let findByID: SQLStatement<ErasureColumns, ErasureID> = find(by: "id")
    fileprivate static let findByAccount: SQLStatement<ErasureColumns, AccountID> = find(by: "account_id")
    private static let findApps = SQLStatement<(row: ErasureAppTable, app: Column<ClientID>), ErasureID>(
        "erasure_apps"
    ) {
        (
            $0.add(ErasureAppTable.self, .withoutNumbers),
            $0.add("(SELECT name FROM app WHERE id = app_id)", ClientID.self, as: "app")
        )
    } sql: { _, list, id in
        "SELECT \(list) FROM erasure_app WHERE erasure_id = \(id)"
    }
    private static let findTokens = SQLStatement<TokenColumns, ErasureID>("erasure_tokens") {
        TokenColumns(&$0, as: "g")
    } sql: { _, list, id in
        "SELECT \(list) FROM erasure_token g WHERE g.erasure_id = \(id) ORDER BY g.id"
    }
    private static let isErased = SQLStatement<Void, AccountID>("is_erased") { _, account in
        "SELECT 1 FROM erasure WHERE account_id = \(account)"
    }
    fileprivate static let findDeadline = SQLStatement<Void>("erasure_deadline") { _ in
        "SELECT min(deadline) FROM erasure WHERE finished_at IS NULL"
    }

    fileprivate struct DueColumns {
        let token: TokenColumns
        let erasure: ErasureColumns

        init(_ list: inout SelectList) {
            (token, erasure) = (TokenColumns(&list, as: "g"), ErasureColumns(&list))
        }

        func claimed(_ row: any ReadableRow, until leaseEnd: Moment) throws -> ClaimedErasureToken {
            let erasure = try erasure.record(row)
            var token = try token.record(row)
            let isInterrupted = token.isClaimed
            token.attempts += 1
            token.nextAttemptAt = leaseEnd
            token.isClaimed = true
            return ClaimedErasureToken(
                erasureID: erasure.id, accountID: erasure.accountID, team: erasure.team,
                deadline: erasure.deadline, token: token, isInterrupted: isInterrupted)
        }
    }

    private static func due(
        _ dialect: SQLDialect, _ list: SelectList, _ now: SQLParameter<Moment>, _ limit: SQLParameter<Int64>,
        among condition: String
    ) -> String {
        """
        SELECT \(list) FROM erasure_token g JOIN erasure e ON e.id = g.erasure_id
        WHERE g.step < 4 AND g.next_attempt_at <= \(now) AND \(condition)
        ORDER BY g.next_attempt_at, g.id LIMIT \(limit) \(dialect.skippingLocked(of: "g"))
        """
    }

    // The sort order matches an index, even among rows with the same time.
    fileprivate static let findDue = SQLStatement<DueColumns, Moment, Int64>("due_erasure_tokens") {
        DueColumns(&$0)
    } sql: {
        due($0, $1, $2, $3, among: "true")
    }
    fileprivate static let findDueOfErasure = SQLStatement<DueColumns, Moment, Int64, ErasureID>(
        "due_erasure_tokens_of"
    ) {
        DueColumns(&$0)
    } sql: {
        due($0, $1, $2, $3, among: "g.erasure_id = \($4)")
    }
    /// SQL text of the statement that finds all erasures' due tokens.
    public static var dueText: SQLText { findDue.text }
    fileprivate static let claim = SQLStatement<Void, UniqueID, Moment>("claim_erasure_token") { _, id, end in
        """
        UPDATE erasure_token SET attempts = attempts + 1, next_attempt_at = \(end), is_claimed = true
        WHERE id = \(id)
        """
    }
    // If two replicas finished the last two entries at the same time, each would see the other's entry as
    // unfinished, and neither would finish the erasure. So the second replica waits for this lock, and its
    // later statements see the first replica's writes.
    fileprivate static let lock = SQLStatement<Void, ErasureID>("lock_erasure") { dialect, id in
        "SELECT id FROM erasure WHERE id = \(id) \(dialect.locking)"
    }
    fileprivate static let save = SQLStatement<
        Void, UniqueID, ErasureID, Int64, Int64, Int64, Int64, Moment, String, SealedSecret
    >("save_erasure_token") { _, id, erasure, kind, step, outcome, attempts, next, cause, sealed in
        """
        UPDATE erasure_token SET kind = \(kind), step = \(step), outcome = \(outcome), attempts = \(attempts),
            next_attempt_at = \(next), is_claimed = false, cause = \(cause), sealed = \(sealed)
        WHERE id = \(id) AND erasure_id = \(erasure) AND step < 4
        """
    }
    fileprivate static let finish = SQLStatement<Void, ErasureID, Moment>("finish_erasure") { _, id, moment in
        """
        UPDATE erasure SET finished_at = \(moment)
        WHERE id = \(id) AND finished_at IS NULL AND NOT EXISTS (
            SELECT 1 FROM erasure_token WHERE erasure_id = \(id) AND step < 4)
        """
    }
    fileprivate static let adopt = SQLStatement<
        Void, UniqueID, UniqueID, Int64, Int64, Moment, SealedSecret, Int64
    >("adopt_token") { _, code, token, kind, revoke, moment, sealed, exchange in
        """
        UPDATE erasure_token SET id = \(token), kind = \(kind), step = \(revoke),
            next_attempt_at = \(moment), is_claimed = false, cause = NULL, sealed = \(sealed),
            redirect_uri = NULL, expires_at = NULL
        WHERE id = \(code) AND step = \(exchange)
        """
    }

    private static let removeCredentials = SQLStatement<Void, TeamID, String, Int64>("erase_credentials") {
        dialect, team, tombstone, row in
        """
        DELETE FROM credential WHERE subject_id = \(row) OR subject_id = (
            SELECT id FROM subject WHERE \(dialect.hasName(tombstone, of: team)))
        """
    }
    // This statement renames a user's older tombstone, which is no longer needed, because the user has
    // returned since, and the user's own row stores the tombstone's time. The tombstone's row keeps a
    // meaningless name, because its events still refer to it.
    private static let retireTombstone = SQLStatement<Void, TeamID, String>("retire_tombstone") {
        dialect, team, tombstone in
        let name = dialect.retiredName
        return """
            UPDATE subject SET \(dialect.settingDigest(of: name))sub = \(name)
            WHERE \(dialect.hasName(tombstone, of: team))
            """
    }
    private static let makeTombstone = SQLStatement<Void, Int64, String>("make_tombstone") {
        dialect, row, tombstone in
        "UPDATE subject SET \(dialect.clearingSubject(named: "\(tombstone)")) WHERE id = \(row)"
    }
    private static let insert = SQLInsertion<ErasureTable>("insert_erasure")
    private static let insertApp = SQLInsertion<ErasureAppTable>("insert_erasure_app")
    private static let insertToken = SQLInsertion<ErasureTokenTable>("insert_erasure_token")

    private static let forgetPayloads = SQLStatement<Void, String, String>("forget_payloads") {
        dialect, subject, payload in
        let cleared = NotificationTable.clearing(payload: "\(payload)")
        return switch dialect {
        case .sqlite:
            """
            UPDATE notification SET \(cleared) WHERE id IN (
                SELECT notification_id FROM notification_event
                WHERE app_id IN (SELECT id FROM app) AND sub = \(subject))
            """
        // One notification can concern several users, so all erasures lock notification rows in the same
        // order. OFFSET 0 makes the planner search once per app instead of reading the whole inbox when it
        // expects many apps.
        case .postgres:
            """
            WITH told AS MATERIALIZED (
                SELECT n.id FROM notification n WHERE n.id = ANY (ARRAY (
                    SELECT key.notification_id FROM app CROSS JOIN LATERAL (
                        SELECT e.notification_id FROM notification_event e
                        WHERE e.app_id = app.id AND e.sub = \(subject) OFFSET 0
                    ) key))
                ORDER BY n.id FOR UPDATE OF n
            )
            UPDATE notification n SET \(cleared) FROM told WHERE n.id = told.id
            """
        }
    }
    private static let forgetKeys = SQLStatement<Void, String>("forget_keys") { _, subject in
        "DELETE FROM notification_event WHERE app_id IN (SELECT id FROM app) AND sub = \(subject)"
    }

    /// Turns a user into a tombstone. Column sensitivity decides which columns are cleared.
    ///
    /// - Parameters:
    ///   - key: The user's key.
    ///   - rowID: Row ID of the user's subject. The row keeps no revocation.
    public static func carryOut(_ erasure: ErasureRecord, key: SubjectKey, rowID: Int64) -> [SQLCall] {
        let (team, tombstone) = (key.team, key.tombstoneName)
        var calls = [
            removeCredentials(team, tombstone, rowID), retireTombstone(team, tombstone),
            makeTombstone(rowID, tombstone),
        ]
        calls += forgetInInbox(key.subject)
        calls += [
            TransferStatements.remove(erasure.accountID), AuditStatements.clear(erasure.accountID),
            HistoryStatements.remove(erasure.accountID),
        ]
        calls.append(
            insert {
                $0.write(erasure, to: $1)
                $1.set($0["team_id", Int64.self], named: erasure.team)
            })
        calls += erasure.apps.map { app in
            insertApp {
                $0.write(app, to: $1)
                $1.set($0["erasure_id", ErasureID.self], erasure.id)
                $1.set($0["app_id", Int64.self], named: app.clientID)
            }
        }
        return calls
            + erasure.tokens.map { token in
                insertToken {
                    $0.write(token, to: $1)
                    $1.set($0["erasure_id", ErasureID.self], erasure.id)
                    $1.set($0["client_id", Int64.self], named: token.clientID)
                    $1.set($0["app_id", Int64.self], named: token.primaryClientID)
                }
            }
    }

    /// Removes the notifications about this `sub`. The statements find their keys through the apps, because
    /// there are few apps.
    public static func forgetInInbox(_ subject: AppleSubject) -> [SQLCall] {
        [forgetPayloads(subject.rawValue, KeptNotification.erasedPayload), forgetKeys(subject.rawValue)]
    }

    public static func isErased(_ id: AccountID, in session: any SQLSession) throws -> Bool {
        try session.value(isErased(id), as: Int64.self) != nil
    }

    /// Reads the erasure first and its tokens last, so that a finished erasure never has an unfinished entry.
    fileprivate static func read(_ call: SQLCall, in session: any SQLSession) throws -> ErasureRecord? {
        let columns = findByID.columns
        return try session.rows(call) { row in
            let id = try row.required(columns.id)
            let apps = try session.rows(findApps(id)) {
                try findApps.columns.row.record($0, $0.required(findApps.columns.app))
            }
            return try columns.record(
                row, apps: apps.sorted { $0.clientID < $1.clientID },
                tokens: session.rows(findTokens(id)) { try findTokens.columns.record($0) })
        }.first
    }
}

extension AppleTokenStore where Self: SQLStore {
    public func erasure(_ id: ErasureID) async throws -> ErasureRecord? {
        try await snapshot { try ErasureStatements.read(ErasureStatements.findByID(id), in: $0) }
    }

    public func erasure(of id: AccountID) async throws -> ErasureRecord? {
        try await snapshot { try ErasureStatements.read(ErasureStatements.findByAccount(id), in: $0) }
    }

    public func claimErasureTokens(
        limit: Int, at moment: Moment, leaseUntil: Moment, of id: ErasureID?
    ) async throws -> [ClaimedErasureToken] {
        let (limit, columns) = (Int64(max(limit, 0)), ErasureStatements.findDue.columns)
        let find =
            id.map { ErasureStatements.findDueOfErasure(moment, limit, $0) }
            ?? ErasureStatements.findDue(moment, limit)
        return try await transaction { session in
            let claimed = try session.rows(find) { try columns.claimed($0, until: leaseUntil) }
            for due in claimed { try session.runLast(ErasureStatements.claim(due.token.id, leaseUntil)) }
            return claimed
        }
    }

    public func save(_ token: ErasureToken, of id: ErasureID, at moment: Moment) async throws {
        let codes = token.step.storageCodes
        let save = ErasureStatements.save(
            token.id, id, token.kind.storageCode, codes.step, codes.outcome, token.attempts,
            token.nextAttemptAt, token.cause, token.isDone ? nil : token.sealed)
        try await transaction { session in
            if token.isDone { try session.runLast(ErasureStatements.lock(id)) }
            try session.runLast(save)
            if token.isDone { try session.runLast(ErasureStatements.finish(id, moment)) }
        }
    }

    public func earliestErasureDeadline() async throws -> Moment? {
        try await snapshot { try $0.value(ErasureStatements.findDeadline(), as: Moment.self) }
    }

    public func adoptErasureToken(
        codeID: UniqueID, tokenID: UniqueID, sealed: SealedSecret, at moment: Moment
    ) async throws -> Bool {
        try await run(
            ErasureStatements.adopt(
                codeID, tokenID, SealedPurpose.refreshToken.storageCode,
                ErasureToken.Step.revoke.storageCodes.step, moment, sealed,
                ErasureToken.Step.exchange.storageCodes.step)) > 0
    }
}
