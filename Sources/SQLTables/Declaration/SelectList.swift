/// What one SELECT returns: columns of tables and expressions, each at the next place of the row.
public struct SelectList: Sendable, CustomStringConvertible {
    private var terms: [String] = []

    public init() {}

    /// Adds columns of a table.
    ///
    /// - Parameter alias: What the table is called in the statement, where there are several.
    /// - Returns: The table with the places of these columns.
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
