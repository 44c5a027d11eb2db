// SQLTables owns the declaration of tables: the columns by name, their positions in a row or among the
// parameters of a statement, and their sensitivity. It knows no database; a store binds and reads the values.

public import AppleAccounts

/// The columns of one table: the only place that names them for SELECT lists, INSERTs, bindings and row
/// readers.
///
/// A value of a table has one `Column` for each column of the table. The positions are computed once, when a
/// statement is prepared; rows are then read by position.
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

    /// Returns the names of the columns that an erasure must clear in a row that remains.
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

/// The declaration of a column, with everything that the schema defines for the column alone.
public struct ColumnDeclaration: Sendable, Hashable {
    public let name: String
    public let sensitivity: Sensitivity
    public let presence: ColumnPresence
    public let form: ColumnForm
    public let bound: ColumnBound?
}

/// Sensitivity of a column's values. It decides what an erasure must remove.
public enum Sensitivity: String, Sendable, Hashable, CaseIterable {
    /// Data about a user: a name, an address, an action and its time. After an erasure no row contains the
    /// value: the row is deleted, or the column is NULL or has a meaningless value.
    case personal
    /// Data that gives access at Apple or at this service, sealed or not: a token, a code, a key, the digest
    /// of a one-time secret. An erasure removes the secrets of a user before it finishes.
    case secret
    /// Numbers of rows, names of apps and teams, and other data that the service needs for its work. An
    /// erasure keeps it.
    case operational
}

/// The values that the schema of both stores accepts in a column, besides NULL.
public enum ColumnBound: Sendable, Hashable {
    /// Bounds the number of characters of a text, or of bytes.
    case length(ClosedRange<Int>)
    /// Bounds the value of a number. An upper bound of `Int64.max` means no upper bound.
    case range(ClosedRange<Int64>)
    /// Restricts a number to 32 bits: the number of a team, an app or a client.
    case nameNumber

    /// Bound of all code numbers. A new code needs no migration.
    static let codes = range(1...99)
}

/// Indicates if a column requires a value in every row.
public enum ColumnPresence: Sendable, Hashable {
    /// The column is NOT NULL.
    case required
    case optional
}

extension ColumnDeclaration {
    /// Returns the condition of the CHECK constraint as SQL text; `nil` when the column needs no constraint.
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

/// One column of a table, and its position in the rows or among the parameters of one statement.
public struct Column<Value>: AnyColumn {
    /// Name of the column. A static string, because copying it counts no references.
    public let name: StaticString
    /// Position, counted from 0. Negative when the statement does not have the column.
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

    /// - Parameter places: Positions of the chosen columns. By default every column has the position of its
    ///   declaration.
    public init(places: [String: Int32]? = nil) {
        self.places = places
    }

    /// Declares the next column. The sensitivity and the presence of its values have no default.
    ///
    /// - Parameter bound: Bound of this column. By default the bound of its type, if the type has one.
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
