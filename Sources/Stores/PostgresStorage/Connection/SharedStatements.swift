public import AppAttestation
public import AppleAccounts
public import AuthorizationServer
public import SQLTables

extension PostgresCall {
    /// Creates a call to a statement that both databases share.
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

/// A session that runs calls in one round trip.
protocol PostgresPipeline: SQLSession {
    func pipeline(_ calls: [PostgresCall]) throws -> [PostgresRows]
}

extension PostgresPipeline {
    var dialect: SQLDialect { .postgres }

    func run(_ call: SQLCall, _ body: (any ReadableRow) throws -> Void) throws -> Int {
        try run([call]) { try body($1) }
    }

    func run(_ calls: [SQLCall], _ body: (Int, any ReadableRow) throws -> Void) throws -> Int {
        guard !calls.isEmpty else { return 0 }
        let results = try pipeline(calls.map { PostgresCall($0) })
        for (index, rows) in results.enumerated() {
            for row in rows { try body(index, row) }
        }
        return results.reduce(0) { $0 + $1.affected }
    }
}

extension PostgresSession: PostgresPipeline {}

/// A transaction that sends BEGIN with its first statement, and the audit entries with its COMMIT, each in
/// one round trip. The audit chain stays locked only from the append to the commit.
final class PostgresTransaction: SQLTransaction, PostgresPipeline {
    private let session: PostgresSession
    private var hasBegun = false
    private var last: [PostgresCall] = []
    private var audited: [AuditEntry] = []

    init(_ session: PostgresSession) {
        self.session = session
    }

    func lock(_ table: any Table.Type) throws {
        let lock = PostgresStatement(
            "lock_table_\(table.name)", "LOCK TABLE \(table.name) IN SHARE ROW EXCLUSIVE MODE")
        _ = try pipeline([PostgresCall(lock)])
    }

    func runLast(_ call: SQLCall) { last.append(PostgresCall(call)) }

    func appendAudit(_ entries: [AuditEntry]) { audited += entries }

    func pipeline(_ calls: [PostgresCall]) throws -> [PostgresRows] {
        if hasBegun { return try session.pipeline(calls) }
        hasBegun = true
        return Array(try session.pipeline([.begin] + calls).dropFirst())
    }

    fileprivate func commit() throws {
        guard hasBegun || !last.isEmpty || !audited.isEmpty else { return }
        let begin = hasBegun ? [] : [PostgresCall.begin]
        _ = try session.pipeline(begin + last + AuditAppending(audited).calls + [.commit])
    }
}

extension PostgresAccountStore:
    SQLStore, AppCheckHourStore, AppReceiptStore, AppleTokenStore, AuditStore, DeliveryStore,
    GrantInspectionStore,
    InboxStore, NonceKeyStore, ServiceHourStore, TransferStore
{
    public func snapshot<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value {
        try await pool.run { try body($0) }
    }

    public func stableSnapshot<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value {
        try await pool.run { session in
            try session.rollingBackFailures {
                _ = try session.run(.beginReading)
                let value = try body(session)
                _ = try session.run(.commit)
                return value
            }
        }
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
