public import AppleAccounts

/// One column of a table, and its position in the rows or among the parameters of one statement.
public struct Column<Value>: AnyColumn {
    /// A static string, so that copying a column counts no references.
    public let name: StaticString
    /// Counted from 0. Negative when the statement does not have the column.
    public let place: Int32

    /// The position of a column that a statement does not have.
    public static var absent: Int32 { -1 }

    public init(_ name: StaticString, place: Int32) {
        (self.name, self.place) = (name, place)
    }

    public var valueType: any Any.Type { Value.self }
}

/// A column whose value type does not matter.
public protocol AnyColumn: Sendable {
    var name: StaticString { get }
    var place: Int32 { get }
    var valueType: any Any.Type { get }
}

/// Gives each column of a table its position while the table declares its columns.
public struct ColumnList {
    public private(set) var declarations: [ColumnDeclaration] = []
    public private(set) var columns: [any AnyColumn] = []
    private let places: [String: Int32]?

    /// - Parameter places: Positions of the chosen columns; without it every column has the position of its
    ///   declaration.
    public init(places: [String: Int32]? = nil) {
        self.places = places
    }

    /// Declares the next column. There is no default for the sensitivity and the presence of its values.
    ///
    /// - Parameter bound: The bound of this column; without it the bound of the type, if that has one.
    public mutating func callAsFunction<Value: ColumnValue>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ presence: ColumnPresence,
        _ bound: ColumnBound? = nil
    ) -> Column<Value> {
        declare(name, sensitivity, presence, Value.form, bound ?? Value.bound)
    }

    /// Declares the next column, which holds numbers of codes.
    public mutating func callAsFunction<Value: StorageCode>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ presence: ColumnPresence
    ) -> Column<Value> {
        declare(name, sensitivity, presence, .integer, .codes)
    }

    private mutating func declare<Value>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ presence: ColumnPresence, _ form: ColumnForm,
        _ bound: ColumnBound?
    ) -> Column<Value> {
        let text = name.description
        let place = places.map { $0[text] ?? Column<Value>.absent } ?? Int32(columns.count)
        let column = Column<Value>(name, place: place)
        declarations.append(
            ColumnDeclaration(
                name: text, sensitivity: sensitivity, presence: presence, form: form, bound: bound))
        columns.append(column)
        return column
    }
}
