public import AppAttestation
public import AppleAccounts
public import AuthorizationServer
import GRDB
public import SQLTables

/// The statements shared by both databases, on one connection. Each statement is prepared at first use.
final class SharedStatements: SQLSession {
    var dialect: SQLDialect { .sqlite }

    private let database: Database
    private var prepared: [String: PreparedStatement] = [:]

    init(in database: Database) {
        self.database = database
    }

    func run(_ call: SQLCall, _ body: (any ReadableRow) throws -> Void) throws -> Int {
        let statement = try prepared[call.text.name] ?? PreparedStatement(call.text.sqlite, in: database)
        prepared[call.text.name] = statement
        statement.begin()
        statement.bind(call.values)
        defer { statement.finish() }
        while try statement.step() { try body(statement) }
        return database.changesCount
    }
}

extension BatchWriter: SQLTransaction {
    var dialect: SQLDialect { .sqlite }

    func lock(_ table: any Table.Type) {}

    func runLast(_ call: SQLCall) throws { try run(call) }

    func run(_ call: SQLCall, _ body: (any ReadableRow) throws -> Void) throws -> Int {
        try shared.run(call, body)
    }
}

extension SQLiteAccountStore:
    SQLStore, AppCheckHourStore, AppReceiptStore, AppleTokenStore, AuditStore, DeliveryStore,
    GrantInspectionStore, InboxStore, NonceKeyStore, ServiceHourStore, TicketStore, TransferStore
{
    public func snapshot<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value {
        try await reader.read { try body($0.shared) }
    }

    public func stableSnapshot<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value {
        try await snapshot(body)
    }

    public func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await writer.write { try body($0) }
    }

    public func once<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession) throws -> Value
    ) async throws -> Value {
        try await writer.session { try body($0) }
    }
}
