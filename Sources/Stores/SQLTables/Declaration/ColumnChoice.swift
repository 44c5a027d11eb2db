/// The columns of a table that one statement uses.
public struct ColumnChoice<T: Table>: Sendable {
    let columns: @Sendable () -> [any AnyColumn]

    /// Every column, in declaration order.
    public static var all: Self {
        Self {
            var list = ColumnList()
            _ = T(&list)
            return list.columns
        }
    }

    /// Every column except team, app and client numbers.
    public static var withoutNumbers: Self { Self { declared { $0.bound != .nameNumber } } }

    /// The team, app and client numbers.
    public static var numbers: Self { Self { declared { $0.bound == .nameNumber } } }

    private static func declared(_ isChosen: (ColumnDeclaration) -> Bool) -> [any AnyColumn] {
        var list = ColumnList()
        _ = T(&list)
        return zip(list.columns, list.declarations).filter { isChosen($1) }.map { $0.0 }
    }

    /// Selects these columns, in this order.
    public static func only(_ pick: @escaping @Sendable (T) -> [any AnyColumn]) -> Self {
        Self {
            var list = ColumnList()
            return pick(T(&list))
        }
    }

    /// Selects every column except the given columns, in declaration order, including columns that are
    /// declared later.
    public static func except(_ pick: @escaping @Sendable (T) -> [any AnyColumn]) -> Self {
        Self {
            var list = ColumnList()
            let left = Set(pick(T(&list)).map(\.name.description))
            return list.columns.filter { !left.contains($0.name.description) }
        }
    }
}

/// Column names, and the SQL forms that list them.
public struct ColumnNames: Sendable, CustomStringConvertible {
    public let names: [String]

    public init(_ names: [String]) {
        self.names = names
    }

    /// The names as a list: "a, b".
    public var description: String { names.joined(separator: ", ") }

    /// Returns the names with a table alias: "c.a, c.b".
    public func of(_ alias: String) -> String { joined { "\(alias).\($0)" } }

    /// Returns assignments for an UPDATE from another relation: "a = n.a, b = n.b".
    public func assigned(from alias: String) -> String { joined { "\($0) = \(alias).\($0)" } }

    /// Assignments that clear the columns: "a = NULL, b = NULL".
    public var cleared: String { joined { "\($0) = NULL" } }

    private func joined(_ term: (String) -> String) -> String { names.map(term).joined(separator: ", ") }
}

/// The result columns of a SELECT: table columns and expressions. Each added column takes the next position
/// in the row.
public struct SelectList: Sendable, CustomStringConvertible {
    private var terms: [String] = []

    public init() {}

    /// Adds columns of a table.
    ///
    /// - Parameter alias: The table's alias, in a statement with several tables.
    /// - Returns: The table with the positions of these columns.
    public mutating func add<T: Table>(
        _ table: T.Type, as alias: String? = nil, _ choice: ColumnChoice<T> = .all
    ) -> T {
        let (placed, chosen) = T.placed(choice, from: terms.count)
        terms += chosen.map { column in alias.map { "\($0).\(column.name)" } ?? "\(column.name)" }
        return placed
    }

    /// Adds an expression, and returns its result column.
    public mutating func add<Value>(
        _ expression: String, _ type: Value.Type, as name: StaticString
    ) -> Column<Value> {
        terms.append(expression)
        return Column(name, place: Int32(terms.count - 1))
    }

    /// The list as SQL text.
    public var description: String { terms.joined(separator: ", ") }
}
