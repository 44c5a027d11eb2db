import GRDB
import SQLTables

/// One prepared SELECT with one parameter.
final class KeyedSelect<Key: ColumnValue> {
    private let statement: PreparedStatement
    private let key: Parameter<Key>

    init(in database: Database, _ sql: (Parameter<Key>) -> String) throws {
        var parameters = ParameterList()
        key = parameters.add(Key.self)
        statement = try PreparedStatement(sql(key), in: database)
    }

    /// Calls `body` at each row.
    func forEach(_ value: Key, _ body: (PreparedStatement) throws -> Void) throws {
        statement.begin()
        statement.bind(value, to: key)
        defer { statement.finish() }
        while try statement.step() { try body(statement) }
    }

    /// Returns `nil` without a row.
    func first<Value>(_ value: Key, _ body: (PreparedStatement) throws -> Value) throws -> Value? {
        statement.begin()
        statement.bind(value, to: key)
        defer { statement.finish() }
        return try statement.step() ? try body(statement) : nil
    }
}
