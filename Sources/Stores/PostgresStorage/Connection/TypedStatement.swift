import AppleAccounts
import SQLTables

/// One SQL statement with typed arguments: it is called like a function, and its text refers to the
/// parameters by the closure's argument names.
///
/// ```swift
/// static let release = TypedStatement<UniqueID, Moment>("release_code") { id, end in
///     "UPDATE authorization_code SET next_attempt_at = \(end) WHERE id = \(id)"
/// }
/// session.run(release(id, moment))
/// ```
/// The text is built once. An argument that is `nil` is NULL.
struct TypedStatement<each Argument: PostgresArgument>: Sendable {
    let statement: PostgresStatement

    /// - Parameter name: Unique: two statements must never share a name.
    init(_ name: String, _ sql: (repeat Parameter<each Argument>) -> String) {
        var count = 0
        func next<Value>(_ type: Value.Type) -> Parameter<Value> {
            count += 1
            return Parameter(number: count)
        }
        statement = PostgresStatement(name, sql(repeat next((each Argument).self)))
    }

    func callAsFunction(_ argument: repeat (each Argument)?) -> PostgresCall {
        var values: [PostgresValue] = []
        repeat values.append((each argument)?.bound ?? .null)
        return PostgresCall(statement, values)
    }
}

/// A parameter of a statement. In SQL text it is its number and the cast that gives it its type.
struct Parameter<Value: PostgresArgument>: Sendable, CustomStringConvertible {
    fileprivate let number: Int

    var description: String { "$\(number)::\(Value.sqlType)" }
}

/// An array of values, as one argument.
extension Array: PostgresArgument where Element: PostgresElement {
    static var sqlType: String { "\(Element.elementType)[]" }

    var bound: PostgresValue { Element.bound(self) }
}

/// An element of an array: a value, or a value that may be NULL.
protocol PostgresElement: Sendable {
    static var elementType: String { get }

    static func bound(_ values: [Self]) -> PostgresValue
}

extension Optional: PostgresElement where Wrapped: PostgresColumnValue {
    static var elementType: String { Wrapped.sqlType }

    static func bound(_ values: [Wrapped?]) -> PostgresValue { Wrapped.array(values) }
}
