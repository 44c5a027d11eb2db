/// One column of a table, and its place in the rows or among the parameters of one statement.
public struct Column<Value>: AnyColumn {
    /// A static string, so that to copy a column counts no references.
    public let name: StaticString
    /// Counted from 0. Negative when the statement does not have the column.
    public let place: Int32

    /// The place of a column that a statement does not have.
    public static var absent: Int32 { -1 }

    public init(_ name: StaticString, place: Int32) {
        (self.name, self.place) = (name, place)
    }

    public var valueType: any Any.Type { Value.self }
}

/// A column whose type of value does not matter.
public protocol AnyColumn: Sendable {
    var name: StaticString { get }
    var place: Int32 { get }
    var valueType: any Any.Type { get }
}

/// Gives each column of a table its place while the table declares them.
public struct ColumnList {
    public private(set) var declarations: [ColumnDeclaration] = []
    public private(set) var columns: [any AnyColumn] = []
    private let places: [String: Int32]?

    /// - Parameter places: The places of the chosen columns; without it every column has the place of its
    ///   declaration.
    public init(places: [String: Int32]? = nil) {
        self.places = places
    }

    /// Declares the next column. Each says what it holds; there is no default.
    public mutating func callAsFunction<Value>(
        _ name: StaticString, _ sensitivity: Sensitivity
    ) -> Column<Value> {
        let text = name.description
        let place = places.map { $0[text] ?? Column<Value>.absent } ?? Int32(columns.count)
        let column = Column<Value>(name, place: place)
        declarations.append(ColumnDeclaration(name: text, sensitivity: sensitivity))
        columns.append(column)
        return column
    }
}
