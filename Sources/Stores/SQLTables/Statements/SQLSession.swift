public import AppleAccounts

/// A connection of either database. Its statements are those of one snapshot or transaction, except with
/// `SQLStore.once`, and with `SQLReader.snapshot` on PostgreSQL.
public protocol SQLSession {
    /// The database, for work whose statements differ.
    var dialect: SQLDialect { get }

    /// Runs a statement, and calls `body` at each row of its result.
    ///
    /// - Returns: Number of rows that an INSERT, UPDATE or DELETE changed.
    @discardableResult
    func run(_ call: SQLCall, _ body: (any ReadableRow) throws -> Void) throws -> Int

    /// Runs statements one after the other, on PostgreSQL in one round trip, and calls `body` at each row with the index of
    /// its statement.
    ///
    /// - Returns: Number of rows that they changed together.
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

    /// Returns the number of rows that a statement changed.
    @discardableResult
    public func run(_ call: SQLCall) throws -> Int { try run(call) { _ in } }

    /// Returns the number of rows that statements changed together.
    @discardableResult
    public func run(_ calls: [SQLCall]) throws -> Int { try run(calls) { _, _ in } }

    public func rows<Value>(_ call: SQLCall, _ make: (any ReadableRow) throws -> Value) throws -> [Value] {
        var values: [Value] = []
        try run(call) { values.append(try make($0)) }
        return values
    }

    /// Returns the value of a statement with one column and at most one row; `nil` for NULL and without a row.
    public func value<Value: ColumnValue>(_ call: SQLCall, as type: Value.Type) throws -> Value? {
        var value: Value?
        try run(call) { value = $0[Column<Value>("value", place: 0)] }
        return value
    }
}

/// A connection within a transaction that writes.
public protocol SQLTransaction: SQLSession {
    /// Holds up other transactions that write to the table. SQLite has one writer, and no locks of tables.
    func lock(_ table: any Table.Type) throws

    /// Runs a statement without reading its result: on SQLite at once, on PostgreSQL in the round trip of the commit, so that
    /// others wait for its locks for a short time only. Read nothing after it.
    func runLast(_ call: SQLCall) throws

    /// Appends to the audit log, with the numbers and hashes that follow. Call it once, and last.
    func appendAudit(_ entries: [AuditEntry]) throws
}

/// A database from which the statements of both databases read.
public protocol SQLReader: Sendable {
    /// Runs reads of one snapshot on SQLite, and of one connection on PostgreSQL.
    func snapshot<Value: Sendable>(_ body: @escaping @Sendable (any SQLSession) throws -> Value) async throws
        -> Value
}

/// A store whose statements are those of both databases.
public protocol SQLStore: SQLReader {
    /// Runs reads of one snapshot on both databases.
    func stableSnapshot<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value

    /// Runs a transaction. `body` may run again from its beginning, after a conflict.
    func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value

    /// Runs statements that write, each in a transaction of its own.
    func once<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value
}

extension SQLStore {
    /// Number of rows that one purge deletes at most, so that sign-ins need not wait for long.
    public static var largestPurge: Int { 1000 }

    /// Runs one statement that writes, in a transaction of its own.
    ///
    /// - Returns: Number of rows that it changed.
    @discardableResult
    public func run(_ call: SQLCall) async throws -> Int { try await once { try $0.run(call) } }

    /// Deletes the oldest rows.
    ///
    /// - Returns: Number of rows that were deleted.
    func purge(_ statement: SQLStatement<Void, Moment, Int64>, before moment: Moment) async throws -> Int {
        try await run(statement(moment, Int64(Self.largestPurge)))
    }
}

extension Table {
    /// Makes a statement that deletes the rows before a time, the oldest first and a bounded number of them. Rows that
    /// another transaction has locked stay for the next time.
    ///
    /// - Parameters:
    ///   - key: The columns of the primary key.
    ///   - condition: SQL before the comparison of the time, with an AND at its end.
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
