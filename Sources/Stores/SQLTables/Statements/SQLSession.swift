public import AppleAccounts

/// A connection to either database. Its statements run in one snapshot or transaction, except under
/// `SQLStore.once`, and under `SQLReader.snapshot` on PostgreSQL.
public protocol SQLSession {
    /// The kind of database, for code that differs between databases.
    var dialect: SQLDialect { get }

    /// Runs a statement, and calls `body` for each result row.
    ///
    /// - Returns: Number of rows that an INSERT, UPDATE or DELETE changed.
    @discardableResult
    func run(_ call: SQLCall, _ body: (any ReadableRow) throws -> Void) throws -> Int

    /// Runs statements in order, on PostgreSQL in one round trip, and calls `body` for each row with the
    /// index of its statement.
    ///
    /// - Returns: Total number of rows that the statements changed.
    @discardableResult
    func run(_ calls: [SQLCall], _ body: (Int, any ReadableRow) throws -> Void) throws -> Int
}

extension SQLSession {
    @discardableResult
    public func run(_ calls: [SQLCall], _ body: (Int, any ReadableRow) throws -> Void) throws -> Int {
        try calls.enumerated().reduce(0) { changed, call in
            try changed + run(call.element) { try body(call.offset, $0) }
        }
    }

    /// Runs a statement. Returns the number of rows that it changed.
    @discardableResult
    public func run(_ call: SQLCall) throws -> Int { try run(call) { _ in } }

    /// Runs statements. Returns the total number of rows that they changed.
    @discardableResult
    public func run(_ calls: [SQLCall]) throws -> Int { try run(calls) { _, _ in } }

    public func rows<Value>(_ call: SQLCall, _ make: (any ReadableRow) throws -> Value) throws -> [Value] {
        var values: [Value] = []
        try run(call) { values.append(try make($0)) }
        return values
    }

    /// Runs a query for whole rows, and returns their records.
    public func records<Record: StoredRecord, each Argument>(
        _ find: SQLStatement<RecordTable<Record>, repeat each Argument>,
        _ argument: repeat (each Argument)?
    ) throws -> [Record] where Record.Given == Void {
        try rows(find(repeat each argument)) { try find.columns.record($0) }
    }

    /// Returns the value of a statement with one column and at most one row; `nil` for NULL or an empty
    /// result.
    public func value<Value: ColumnValue>(_ call: SQLCall, as type: Value.Type) throws -> Value? {
        var value: Value?
        try run(call) { value = $0[Column<Value>("value", place: 0)] }
        return value
    }
}

/// A connection inside a write transaction.
public protocol SQLTransaction: SQLSession {
    /// Locks the table against other transactions that write to it. On SQLite it does nothing, because there
    /// is only one writer.
    func lock(_ table: any Table.Type) throws

    /// Runs a statement without reading its result: on SQLite now, on PostgreSQL in the commit's round trip,
    /// so that other transactions wait only briefly for its locks. Nothing may be read afterwards.
    func runLast(_ call: SQLCall) throws

    /// Appends to the audit log with the next numbers and hashes. Must be the last call, at most once.
    func appendAudit(_ entries: [AuditEntry]) throws
}

/// A database that runs the queries shared by both databases.
public protocol SQLReader: Sendable {
    /// Runs queries in one snapshot on SQLite, and on one connection on PostgreSQL.
    func snapshot<Value: Sendable>(_ body: @escaping @Sendable (any SQLSession) throws -> Value) async throws
        -> Value
}

/// A store that runs the statements shared by both databases.
public protocol SQLStore: SQLReader {
    /// Runs queries in one snapshot on both databases.
    func stableSnapshot<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value

    /// Runs a transaction. After a conflict, `body` can run again from the start.
    func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value

    /// Runs write statements, each in its own transaction.
    func once<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value
}

extension SQLStore {
    /// Maximum number of rows that one purge deletes, so that sign-ins do not wait long.
    public static var largestPurge: Int { 1000 }

    /// Runs one write statement in its own transaction.
    ///
    /// - Returns: Number of rows that the statement changed.
    @discardableResult
    public func run(_ call: SQLCall) async throws -> Int { try await once { try $0.run(call) } }

    /// Deletes the oldest rows before a given time.
    ///
    /// - Returns: Number of deleted rows.
    func purge(_ statement: SQLStatement<Void, Moment, Int64>, before moment: Moment) async throws -> Int {
        try await run(statement(moment, Int64(Self.largestPurge)))
    }
}

extension Table {
    /// Creates a statement that deletes a bounded number of rows before a given time, oldest first. It skips
    /// rows that another transaction has locked; a later purge deletes them.
    ///
    /// - Parameters:
    ///   - key: The primary key columns.
    ///   - condition: SQL that precedes the time comparison. Ends with AND.
    static func purge(
        by key: String, before time: String, _ condition: (SQLDialect) -> String = { _ in "" }
    ) -> SQLStatement<Void, Moment, Int64> {
        SQLStatement("purge_\(name)") { dialect, end, limit in
            """
            DELETE FROM \(name) WHERE (\(key)) IN (
                SELECT \(key) FROM \(name) WHERE \(condition(dialect))\(time) < \(end) ORDER BY \(time)
                LIMIT \(limit) \(dialect.skippingLocked))
            """
        }
    }
}
