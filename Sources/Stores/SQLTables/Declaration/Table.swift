// SQLTables owns the declaration of tables: the columns by name, their positions in a row or among the
// parameters of a statement, and their sensitivity. It knows no database; a store binds and reads the values.

/// The columns of one table: the only place that names them for SELECT lists, INSERTs, bindings and row
/// readers.
///
/// A value of a table has one `Column` for each column of the table. The positions are computed once, when a
/// statement is prepared; a row is then read by number.
public protocol Table: Sendable {
    static var name: String { get }

    /// Declares every column, in the order of the schema.
    init(_ columns: inout ColumnList)
}

extension Table {
    public static var declaration: TableDeclaration {
        var columns = ColumnList()
        _ = Self(&columns)
        return TableDeclaration(name: name, columns: columns.declarations)
    }

    /// Returns the table with positions for the chosen columns, counted from `first`. The other columns have
    /// no position.
    public static func placed(
        _ choice: ColumnChoice<Self> = .all, from first: Int = 0
    ) -> (table: Self, chosen: [any AnyColumn]) {
        let chosen = choice.columns()
        var places: [String: Int32] = [:]
        for (offset, column) in chosen.enumerated() {
            places[column.name.description] = Int32(first + offset)
        }
        var columns = ColumnList(places: places)
        return (Self(&columns), chosen)
    }

    /// Returns the names of the chosen columns, as SQL text.
    public static func names(_ choice: ColumnChoice<Self> = .all) -> ColumnNames {
        ColumnNames(choice.columns().map(\.name.description))
    }

    /// Returns the declarations of the chosen columns.
    public static func declarations(_ choice: ColumnChoice<Self>) -> [ColumnDeclaration] {
        let chosen = Set(names(choice).names)
        return declaration.columns.filter { chosen.contains($0.name) }
    }

    /// Returns the names of the columns that an erasure must clear in a row that stays.
    ///
    /// - Parameter choice: Columns that get another value instead.
    public static func sensitiveNames(except choice: ColumnChoice<Self>) -> ColumnNames {
        let kept = Set(names(choice).names)
        return ColumnNames(
            declaration.columns.filter { $0.sensitivity != .operational && !kept.contains($0.name) }.map(
                \.name))
    }
}

/// Declaration of a table: its name, and each column with its sensitivity.
public struct TableDeclaration: Sendable, Hashable {
    public let name: String
    public let columns: [ColumnDeclaration]
}

/// The declaration of a column: everything that the schema says of the column alone.
public struct ColumnDeclaration: Sendable, Hashable {
    public let name: String
    public let sensitivity: Sensitivity
    public let presence: ColumnPresence
    public let form: ColumnForm
    public let bound: ColumnBound?
}
