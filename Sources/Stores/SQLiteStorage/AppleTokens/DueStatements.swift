import AppleAccounts
import GRDB
import SQLTables

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

/// Finds due Apple codes and tokens of erased accounts, the longest waiting first.
struct DueErasureTokens {
    private let statement: PreparedStatement
    private let moment: Parameter<Moment>
    private let limit: Parameter<Int64>
    private let erasureID: Parameter<ErasureID>
    private let token: ErasureTokenTable
    private let erasure: ErasureTable

    init(in database: Database) throws {
        var parameters = ParameterList()
        (moment, limit) = (parameters.add(Moment.self), parameters.add(Int64.self))
        erasureID = parameters.add(ErasureID.self)
        var list = SelectList()
        token = list.add(ErasureTokenTable.self, as: "g", .token)
        erasure = list.add(
            ErasureTable.self, as: "e", .only { [$0.id, $0.accountID, $0.teamID, $0.deadline] })
        statement = try PreparedStatement(
            """
            SELECT \(list) FROM erasure_token g JOIN erasure e ON e.id = g.erasure_id
            WHERE g.step < 4 AND g.next_attempt_at <= \(moment)
                AND (\(erasureID) IS NULL OR g.erasure_id = \(erasureID))
            ORDER BY g.next_attempt_at, g.id LIMIT \(limit)
            """, in: database)
    }

    /// - Parameter id: Finds only entries of this erasure.
    /// - Returns: The entries before they are claimed.
    func rows(
        limit most: Int, at time: Moment, of id: ErasureID?, _ names: Names
    ) throws -> [ClaimedErasureToken] {
        statement.begin()
        statement.bind(time, to: moment)
        statement.bind(Int64(max(most, 0)), to: limit)
        statement.bind(id, to: erasureID)
        defer { statement.finish() }
        var found: [ClaimedErasureToken] = []
        while try statement.step() {
            let due = try token.token(statement, names)
            found.append(
                ClaimedErasureToken(
                    erasureID: try statement.required(erasure.id),
                    accountID: try statement.required(erasure.accountID),
                    team: try names.teams.name(of: statement.required(erasure.teamID)),
                    deadline: try statement.required(erasure.deadline), token: due,
                    isInterrupted: due.isClaimed))
        }
        return found
    }
}

/// Claims one row.
struct ClaimStatement {
    private let statement: PreparedStatement
    private let id: Parameter<UniqueID>
    private let end: Parameter<Moment>

    init<T: Table>(table: T.Type, in database: Database) throws {
        var parameters = ParameterList()
        (id, end) = (parameters.add(UniqueID.self), parameters.add(Moment.self))
        statement = try PreparedStatement(
            """
            UPDATE \(T.name) SET attempts = attempts + 1, next_attempt_at = \(end), is_claimed = 1
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
