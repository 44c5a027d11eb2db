/// Result columns of a SELECT: columns of tables and expressions, each at the next position of the row.
public struct SelectList: Sendable, CustomStringConvertible {
    private var terms: [String] = []

    public init() {}

    /// Adds columns of a table.
    ///
    /// - Parameter alias: Alias of the table in a statement with several tables.
    /// - Returns: The table with the positions of these columns.
    public mutating func add<T: Table>(
        _ table: T.Type, as alias: String? = nil, _ choice: ColumnChoice<T> = .all
    ) -> T {
        let (placed, chosen) = T.placed(choice, from: terms.count)
        terms += chosen.map { column in alias.map { "\($0).\(column.name)" } ?? "\(column.name)" }
        return placed
    }

    /// Adds an expression.
    public mutating func add<Value>(
        _ expression: String, _ type: Value.Type, as name: StaticString
    ) -> Column<Value> {
        terms.append(expression)
        return Column(name, place: Int32(terms.count - 1))
    }

    /// The list as SQL text.
    public var description: String { terms.joined(separator: ", ") }
}
