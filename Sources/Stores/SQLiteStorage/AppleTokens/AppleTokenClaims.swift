import AppleAccounts
import GRDB
import SQLTables

/// Claims codes and checks. Each claim runs in a transaction of its own on the one
/// connection that writes, so two claimers cannot get the same row.
final class AppleTokenClaims {
    private let names: Names
    private let dueCodes: DueStatement<AuthorizationCodeTable>
    private let claimCode: ClaimStatement
    private let dueChecks: DueStatement<RefreshTokenTable>
    private let clients: CheckedClients
    private let moveCheck: PreparedStatement
    private let nextCheck: Parameter<Moment>
    private let accountOfCheck: Parameter<AccountID>
    private let clientOfCheck: Parameter<Int64>

    init(_ names: Names, in database: Database) throws {
        self.names = names
        dueCodes = try DueStatement(time: "next_attempt_at", then: "id", in: database)
        claimCode = try ClaimStatement(in: database)
        dueChecks = try DueStatement(
            time: "next_check_at", then: "account_id", isOfClient: true, in: database)
        clients = try CheckedClients(in: database)
        var parameters = ParameterList()
        nextCheck = parameters.add(Moment.self)
        accountOfCheck = parameters.add(AccountID.self)
        clientOfCheck = parameters.add(Int64.self)
        moveCheck = try PreparedStatement(
            """
            UPDATE refresh_token SET next_check_at = \(nextCheck), unchecked_since = NULL
            WHERE account_id = \(accountOfCheck) AND client_id = \(clientOfCheck)
            """, in: database)
    }

    /// Ends the claims of earlier processes. Call it only with the lock on the file: all claims then belong
    /// to processes that have ended. A code is valid only for minutes, and a restart may have removed the
    /// cause for which an erasure waits.
    static func endClaims(_ database: Database) throws {
        try database.execute(sql: "UPDATE authorization_code SET next_attempt_at = 0 WHERE is_claimed = 1")
        try database.execute(sql: "UPDATE erasure_token SET next_attempt_at = 0 WHERE step < 4")
    }

    func codes(limit: Int, at moment: Moment, leaseUntil: Moment) throws -> [ClaimedCode] {
        let due = try dueCodes.rows(limit: limit, at: moment) { row, columns in
            (code: try columns.record(row, names), key: try dueCodes.key(row, names))
        }
        return try due.map { code, key in
            var claimed = code
            claimed.attempts += 1
            claimed.nextAttemptAt = leaseUntil
            claimed.isClaimed = true
            try claimCode.run(code.id, until: leaseUntil)
            return ClaimedCode(record: claimed, key: key, isInterrupted: code.isClaimed)
        }
    }

    func checks(
        limit: Int, at moment: Moment, nextAfter: Moment, jitterMilliseconds: Int64,
        except resting: Set<ClientID>
    ) throws -> [ClaimedCheck] {
        var due: [ClaimedCheck] = []
        for client in try clients.numbers(except: resting) {
            due += try dueChecks.rows(limit: limit, at: moment, of: client) { row, columns in
                ClaimedCheck(try columns.record(row, names), key: try dueChecks.key(row, names))
            }
        }
        due.sort { ($0.dueSince, $0.accountID.uniqueID) < ($1.dueSince, $1.accountID.uniqueID) }
        due = Array(due.prefix(max(limit, 0)))
        for check in due {
            // Without jitter, the tokens of users who signed in at the same time would be checked at the same
            // time every day.
            let jitter = Int64.random(in: 0..<max(jitterMilliseconds, 1))
            try move(check, to: nextAfter.advanced(byMilliseconds: jitter))
        }
        return due
    }

    private func move(_ check: ClaimedCheck, to moment: Moment) throws {
        guard let client = try names.clients.number(of: check.clientID) else { return }
        moveCheck.begin()
        moveCheck.bind(moment, to: nextCheck)
        moveCheck.bind(check.accountID, to: accountOfCheck)
        moveCheck.bind(client, to: clientOfCheck)
        try moveCheck.execute()
    }
}

/// The client IDs that tokens were issued to. There are few, so each is looked at by itself: the due tokens of one
/// that rests are then not read, however many there are.
struct CheckedClients {
    private let statement: PreparedStatement
    private let names: ClientTable

    init(in database: Database) throws {
        var list = SelectList()
        names = list.add(ClientTable.self)
        statement = try PreparedStatement("SELECT \(list) FROM client", in: database)
    }

    func numbers(except resting: Set<ClientID>) throws -> [Int64] {
        statement.begin()
        defer { statement.finish() }
        var found: [Int64] = []
        while try statement.step() {
            let client = ClientID(try statement.required(names.name))
            guard client.map({ !resting.contains($0) }) ?? true else { continue }
            found.append(try statement.required(names.id))
        }
        return found
    }
}

extension AppleTokenClaims {
    /// Times at which work is due next: the first entries of three indexes. On the connection that reads.
    final class NextDue {
        private let statement: PreparedStatement
        private let code: Column<Moment>
        private let check: Column<Moment>
        private let erasure: Column<Moment>
        private let clients: CheckedClients
        private let firstCheck: PreparedStatement
        private let client: Parameter<Int64>

        init(in database: Database) throws {
            clients = try CheckedClients(in: database)
            var parameters = ParameterList()
            client = parameters.add(Int64.self)
            firstCheck = try PreparedStatement(
                "SELECT min(next_check_at) FROM refresh_token WHERE client_id = \(client)", in: database)
            var list = SelectList()
            code = list.add("(SELECT min(next_attempt_at) FROM authorization_code)", Moment.self, as: "code")
            check = list.add("(SELECT min(next_check_at) FROM refresh_token)", Moment.self, as: "check")
            erasure = list.add(
                "(SELECT min(next_attempt_at) FROM erasure_token WHERE step < 4)", Moment.self, as: "erasure")
            statement = try PreparedStatement("SELECT \(list)", in: database)
        }

        func nextCheck(except resting: Set<ClientID>) throws -> Moment? {
            try clients.numbers(except: resting).compactMap { number in
                firstCheck.begin()
                firstCheck.bind(number, to: client)
                defer { firstCheck.finish() }
                return try firstCheck.step() ? firstCheck.onlyValue(as: Moment.self) : nil
            }.min()
        }

        func find() throws -> AppleTokensDue {
            statement.begin()
            defer { statement.finish() }
            guard try statement.step() else { return AppleTokensDue() }
            return AppleTokensDue(code: statement[code], check: statement[check], erasure: statement[erasure])
        }
    }

    /// Counts the work that is due and has not succeeded. On the connection that reads.
    final class CountDue {
        let sql: String
        private let statement: PreparedStatement
        private let moment: Parameter<Moment>
        private let columns: BacklogColumns

        init(in database: Database) throws {
            var parameters = ParameterList()
            moment = parameters.add(Moment.self)
            var list = SelectList()
            columns = BacklogColumns(&list, at: "\(moment)")
            sql = "SELECT \(list)"
            statement = try PreparedStatement(sql, in: database)
        }

        func count(at time: Moment) throws -> AppleTokensBacklog {
            statement.begin()
            statement.bind(time, to: moment)
            defer { statement.finish() }
            guard try statement.step() else { return AppleTokensBacklog() }
            return columns.backlog(statement, at: time)
        }
    }
}

/// Finds due codes or tokens, the longest waiting first, each with the key of its user. Each order is that of an
/// index, also among rows of one time.
struct DueStatement<T: Table> {
    private let statement: PreparedStatement
    private let moment: Parameter<Moment>
    private let limit: Parameter<Int64>
    private let client: Parameter<Int64>?
    private let columns: T
    private let subject: SubjectTable
    let sql: String

    /// - Parameters:
    ///   - time: The column with the time at which a row is due.
    ///   - then: The column that orders rows of the same time.
    ///   - isOfClient: Finds the rows of one client ID.
    init(time: String, then: String, isOfClient: Bool = false, in database: Database) throws {
        var parameters = ParameterList()
        (moment, limit) = (parameters.add(Moment.self), parameters.add(Int64.self))
        client = isOfClient ? parameters.add(Int64.self) : nil
        let ofClient = client.map { "t.client_id = \($0) AND " } ?? ""
        var list = SelectList()
        columns = list.add(T.self, as: "t")
        subject = list.add(SubjectTable.self, as: "s", .only { [$0.teamID, $0.subject] })
        sql = """
            SELECT \(list) FROM \(T.name) t JOIN subject s ON s.account_id = t.account_id
            WHERE \(ofClient)t.\(time) <= \(moment) ORDER BY t.\(time), t.\(then) LIMIT \(limit)
            """
        statement = try PreparedStatement(sql, in: database)
    }

    /// - Parameter number: The client ID of the rows, for a statement of one client ID.
    func rows<Value>(
        limit most: Int, at time: Moment, of number: Int64? = nil,
        _ read: (PreparedStatement, T) throws -> Value
    ) throws -> [Value] {
        statement.begin()
        statement.bind(time, to: moment)
        if let client { statement.bind(number, to: client) }
        statement.bind(Int64(max(most, 0)), to: limit)
        defer { statement.finish() }
        var found: [Value] = []
        while try statement.step() { found.append(try read(statement, columns)) }
        return found
    }

    /// Returns the user's key of the current row.
    func key(_ row: PreparedStatement, _ names: Names) throws -> SubjectKey {
        guard let user = AppleSubject(try row.required(subject.subject)) else {
            throw StorageError(
                .corrupted, detail: "expected a sub in a subject with an account; restore a backup")
        }
        return SubjectKey(team: try names.teams.name(of: row.required(subject.teamID)), subject: user)
    }
}

/// Claims one code.
struct ClaimStatement {
    private let statement: PreparedStatement
    private let id: Parameter<UniqueID>
    private let end: Parameter<Moment>

    init(in database: Database) throws {
        var parameters = ParameterList()
        (id, end) = (parameters.add(UniqueID.self), parameters.add(Moment.self))
        statement = try PreparedStatement(
            """
            UPDATE authorization_code SET attempts = attempts + 1, next_attempt_at = \(end), is_claimed = 1
            WHERE id = \(id)
            """, in: database)
    }

    func run(_ row: UniqueID, until moment: Moment) throws {
        statement.begin()
        statement.bind(row, to: id)
        statement.bind(moment, to: end)
        try statement.execute()
    }
}
