// SQLTables owns the table declarations: column names, sensitivity, and positions in a row or among the
// parameters of a statement. It depends on no database; a store binds and reads the values.

public import AppleAccounts

/// The columns of one table. SELECT lists, INSERTs, bindings and row readers all get their column names here.
///
/// A table value has one `Column` for each of its columns. Positions are computed once, when a statement is
/// prepared; rows are then read by position.
public protocol Table: Sendable {
    static var name: String { get }

    /// Declares every column, in schema order.
    init(_ columns: inout ColumnList)
}

extension Table {
    public static var declaration: TableDeclaration {
        var columns = ColumnList()
        _ = Self(&columns)
        return TableDeclaration(name: name, columns: columns.declarations)
    }

    /// Returns the table with positions for the chosen columns, counted from `first`. All other columns have
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

    /// Returns the names of the columns that an erasure must clear in a remaining row.
    ///
    /// - Parameter choice: Columns that the statement sets to another value instead.
    public static func sensitiveNames(except choice: ColumnChoice<Self>) -> ColumnNames {
        let kept = Set(names(choice).names)
        return ColumnNames(
            declaration.columns.filter { $0.sensitivity != .operational && !kept.contains($0.name) }.map(
                \.name))
    }
}

/// A table declaration: the table's name, and each column with its sensitivity.
public struct TableDeclaration: Sendable, Hashable {
    public let name: String
    public let columns: [ColumnDeclaration]
}

/// A column declaration, with everything that the schema defines for this column alone.
public struct ColumnDeclaration: Sendable, Hashable {
    public let name: String
    public let sensitivity: Sensitivity
    public let presence: ColumnPresence
    public let form: ColumnForm
    public let bound: ColumnBound?
}

/// The sensitivity of a column's values, which decides what an erasure must remove.
public enum Sensitivity: String, Sendable, Hashable, CaseIterable {
    /// Data about a user, such as a name, an address, or an action and its time. After an erasure, no row
    /// contains the value: the row is deleted, or the column is NULL or has a meaningless value.
    case personal
    /// Data that gives access at Apple or at this service, sealed or not: a token, a code, a key, or the
    /// digest of a one-time secret. An erasure removes a user's secrets before it finishes.
    case secret
    /// Data that the service needs to work, such as row numbers and the names of apps and teams. An erasure
    /// keeps it.
    case operational
}

/// The values that both stores' schemas accept in a column, besides NULL.
public enum ColumnBound: Sendable, Hashable {
    /// Bounds the length of a string in characters, or of data in bytes.
    case length(ClosedRange<Int>)
    /// Bounds a number. An upper bound of `Int64.max` means no upper bound.
    case range(ClosedRange<Int64>)
    /// Restricts a number to 32 bits, for a team, app or client number.
    case nameNumber

    /// The bound on all code numbers. It leaves room for new codes, so a new code needs no migration.
    static let codes = range(1...99)
}

/// Specifies whether a column requires a value in every row.
public enum ColumnPresence: Sendable, Hashable {
    /// The column is NOT NULL.
    case required
    case optional
}

extension ColumnDeclaration {
    /// Returns the CHECK constraint's condition as SQL text; `nil` if the column needs no constraint.
    ///
    /// - Parameter byteCount: Name of the SQL function that counts bytes.
    public func condition(byteCount: String) -> String? {
        switch bound {
        case nil, .nameNumber: nil
        case .length(let lengths):
            Self.condition(
                "\(form == .bytes ? byteCount : "length")(\(name))", Int64(lengths.lowerBound),
                Int64(lengths.upperBound))
        case .range(let values): Self.condition(name, values.lowerBound, values.upperBound)
        }
    }

    private static func condition(_ term: String, _ least: Int64, _ most: Int64) -> String {
        if least == most { return "\(term) = \(least)" }
        return most == .max ? "\(term) >= \(least)" : "\(term) BETWEEN \(least) AND \(most)"
    }
}

/// One table column, and its position in the rows or among the parameters of one statement.
public struct Column<Value>: AnyColumn {
    /// The column's name. It is a static string because copying a static string needs no reference counting.
    public let name: StaticString
    /// Position, counted from 0. Negative if the statement does not use the column.
    public let place: Int32

    /// The position of a column that the statement does not use.
    public static var absent: Int32 { -1 }

    public init(_ name: StaticString, place: Int32) {
        (self.name, self.place) = (name, place)
    }

    public var valueType: any Any.Type { Value.self }
}

/// A column without its value type, for code that does not need the type.
public protocol AnyColumn: Sendable {
    var name: StaticString { get }
    var place: Int32 { get }
    var valueType: any Any.Type { get }
}

/// Gives each column its position while a table declares its columns.
public struct ColumnList {
    public private(set) var declarations: [ColumnDeclaration] = []
    public private(set) var columns: [any AnyColumn] = []
    private let places: [String: Int32]?

    /// - Parameter places: Positions of the chosen columns. By default every column has its position in the
    ///   declaration.
    public init(places: [String: Int32]? = nil) {
        self.places = places
    }

    /// Declares the next column. Sensitivity and presence have no defaults, so every declaration states them.
    ///
    /// - Parameter bound: The column's bound. Defaults to the bound of its type, if the type has one.
    public mutating func callAsFunction<Value: ColumnValue>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ presence: ColumnPresence,
        _ bound: ColumnBound? = nil
    ) -> Column<Value> {
        declare(name, sensitivity, presence, Value.form, bound ?? Value.bound)
    }

    /// Declares the next column, which stores codes as numbers.
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
