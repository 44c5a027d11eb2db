public import AppAttestation
public import AppleAccounts
public import SQLTables

extension PostgresCall {
    /// A call of a statement that both databases have.
    init(_ call: SQLCall) {
        self.init(
            PostgresStatement(call.text.name, call.text.postgres), call.values.map { PostgresValue($0) })
    }
}

extension PostgresValue {
    fileprivate init(_ value: SQLValue) {
        self =
            switch value {
            case .null: .null
            case .integer(let integer): .integer(integer)
            case .text(let text): .text(text)
            case .boolean(let isTrue): .boolean(isTrue)
            case .uniqueID(let id): .uuid(id)
            case .bytes(let bytes): .bytes(bytes)
            }
    }
}

extension PostgresSession: SQLSession {
    func run(_ calls: [SQLCall]) throws -> Int {
        try pipeline(calls.map { PostgresCall($0) }).reduce(0) { $0 + $1.affected }
    }

    func run(_ call: SQLCall, _ body: (any ReadableRow) throws -> Void) throws -> Int {
        let rows = try run(PostgresCall(call))
        for row in rows { try body(row) }
        return rows.affected
    }
}

/// A transaction that begins with its first statement, in the same round trip, and appends to the audit log in that of
/// its commit: the chain is locked from there to the commit alone.
final class PostgresTransaction: SQLTransaction {
    private let session: PostgresSession
    private var hasBegun = false
    private var audited: [AuditEntry] = []

    init(_ session: PostgresSession) {
        self.session = session
    }

    func run(_ call: SQLCall, _ body: (any ReadableRow) throws -> Void) throws -> Int {
        let results = try results(of: [PostgresCall(call)])
        for row in results.joined() { try body(row) }
        return results.reduce(0) { $0 + $1.affected }
    }

    func run(_ calls: [SQLCall]) throws -> Int {
        guard !calls.isEmpty else { return 0 }
        return try results(of: calls.map { PostgresCall($0) }).reduce(0) { $0 + $1.affected }
    }

    func lock(_ table: any Table.Type) throws {
        let statement = PostgresStatement(
            "lock_\(table.name)", "LOCK TABLE \(table.name) IN SHARE ROW EXCLUSIVE MODE")
        _ = try results(of: [PostgresCall(statement)])
    }

    func appendAudit(_ entries: [AuditEntry]) { audited += entries }

    private func results(of calls: [PostgresCall]) throws -> ArraySlice<PostgresRows> {
        if hasBegun { return try session.pipeline(calls)[...] }
        hasBegun = true
        return try session.pipeline([.begin] + calls).dropFirst()
    }

    fileprivate func commit() throws {
        let begin = hasBegun ? [] : [PostgresCall.begin]
        _ = try session.pipeline(begin + AuditAppending(audited).calls + [.commit])
    }
}

extension PostgresAccountStore: SQLStore, AppCheckHourStore, AppReceiptStore, ServiceHourStore {
    public func snapshot<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value {
        try await pool.run { try body($0) }
    }

    public func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await pool.run { session in
            try session.rollingBackFailures {
                try session.repeatingConflicts {
                    let transaction = PostgresTransaction(session)
                    let value = try body(transaction)
                    try transaction.commit()
                    return value
                }
            }
        }
    }

    public func once<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value {
        try await pool.run { try body($0) }
    }
}
