public import AppleAccounts

/// A record that is stored as one table row. One function names every column once, next to the record's
/// property for it.
///
/// That function serves three purposes: it lists the columns for the schema and the statements, writes the
/// parameters, and reads a row. If a value spans several columns, or exists only together with other columns,
/// the function handles it by hand: it reads the columns first and builds the value from them.
///
/// The function must be `@inlinable` and `@inline(__always)`, so that a store gets specialized code for each
/// purpose and table. The compiler cannot detect two swapped columns of the same type, so a test writes and
/// reads a row in which all values differ.
public protocol StoredRecord: Sendable {
    /// Record values that the row lacks: names that it stores as numbers, and columns of another table.
    associatedtype Given: Sendable = Void

    static var table: String { get }

    /// Names the columns in schema order, and returns the record.
    static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self
}

/// One pass over a record's columns. Declarations call the extension's functions, which handle
/// required and optional columns differently.
public protocol ColumnCourse<Record> {
    associatedtype Record: StoredRecord
    associatedtype Failure: Error

    /// - Parameters:
    ///   - isRequired: True if the column is NOT NULL.
    ///   - path: The property that statements use to find the column; `nil` for a column that has only a
    ///     name.
    mutating func value<Value: ColumnValue>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ isRequired: Bool, _ bound: ColumnBound?,
        _ path: AnyKeyPath?, _ get: (Record) -> Value?
    ) throws(Failure) -> Value?

    mutating func storageCode<Value: StorageCode>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ isRequired: Bool, _ path: AnyKeyPath?,
        _ get: (Record) -> Value?
    ) throws(Failure) -> Value?

    /// Adds a column that has no property in the record. The store writes and reads it.
    mutating func other<Value: ColumnValue>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ isRequired: Bool, _ bound: ColumnBound?,
        _ type: Value.Type)

    /// Returns the given value if the pass reads a row, and a placeholder otherwise.
    func given<Value>(_ get: (Record.Given) -> Value, _ placeholder: @autoclosure () -> Value) -> Value

    func missing(_ column: StaticString) -> Failure
}

extension ColumnCourse {
    /// Adds the column for a property.
    ///
    /// - Parameters:
    ///   - path: A literal key path, which the compiler resolves. None of its parts may be optional.
    ///   - bound: The column's bound. Defaults to the bound of its type, if the type has one.
    @inlinable @inline(__always)
    public mutating func callAsFunction<Value: ColumnValue>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ path: KeyPath<Record, Value>,
        _ bound: ColumnBound? = nil
    ) throws(Failure) -> Value {
        try required(value(name, sensitivity, true, bound, path) { $0[keyPath: path] }, name)
    }

    @inlinable @inline(__always)
    public mutating func callAsFunction<Value: ColumnValue>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ path: KeyPath<Record, Value?>,
        _ bound: ColumnBound? = nil
    ) throws(Failure) -> Value? {
        try value(name, sensitivity, false, bound, path) { $0[keyPath: path] }
    }

    /// Adds the column for a property that is stored as a code.
    @inlinable @inline(__always)
    public mutating func code<Value: StorageCode>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ path: KeyPath<Record, Value>
    ) throws(Failure) -> Value {
        try required(storageCode(name, sensitivity, true, path) { $0[keyPath: path] }, name)
    }

    @inlinable @inline(__always)
    public mutating func code<Value: StorageCode>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ path: KeyPath<Record, Value?>
    ) throws(Failure) -> Value? {
        try storageCode(name, sensitivity, false, path) { $0[keyPath: path] }
    }

    /// Adds the column for a value that is derived from the record: part of an optional member, or another
    /// form of a member.
    @inlinable @inline(__always)
    public mutating func part<Value: ColumnValue>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ bound: ColumnBound? = nil,
        _ get: (Record) -> Value
    ) throws(Failure) -> Value {
        try required(value(name, sensitivity, true, bound, nil, get), name)
    }

    @inlinable @inline(__always)
    public mutating func part<Value: ColumnValue>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ bound: ColumnBound? = nil,
        _ get: (Record) -> Value?
    ) throws(Failure) -> Value? {
        try value(name, sensitivity, false, bound, nil, get)
    }

    @inlinable @inline(__always)
    public mutating func codePart<Value: StorageCode>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ get: (Record) -> Value?
    ) throws(Failure) -> Value? {
        try storageCode(name, sensitivity, false, nil, get)
    }

    /// Adds a required column that has no property in the record.
    @inlinable @inline(__always)
    public mutating func other<Value: ColumnValue>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ type: Value.Type, _ bound: ColumnBound? = nil
    ) {
        other(name, sensitivity, true, bound, type)
    }

    /// Adds the number column for a given name. The store writes the number.
    @inlinable @inline(__always)
    public mutating func number<Name: ColumnValue>(
        _ name: StaticString, _ get: (Record.Given) -> Name
    ) -> Name {
        other(name, .operational, true, .nameNumber, Int64.self)
        return given(get)
    }

    @inlinable @inline(__always)
    public mutating func number<Name: ColumnValue>(
        _ name: StaticString, _ get: (Record.Given) -> Name?
    ) -> Name? {
        other(name, .operational, false, .nameNumber, Int64.self)
        return given(get, nil)
    }

    @inlinable @inline(__always)
    public func given<Value: ColumnValue>(_ get: (Record.Given) -> Value) -> Value {
        given(get, .placeholder)
    }

    /// Returns a value that the row must have.
    @inlinable @inline(__always)
    public func required<Value>(_ value: Value?, _ column: StaticString) throws(Failure) -> Value {
        guard let value else { throw missing(column) }
        return value
    }
}

/// Writes a record's columns. The record that the pass returns is ignored.
@usableFromInline
struct ColumnWriting<Record: StoredRecord, Row: WritableRow>: ColumnCourse {
    @usableFromInline let record: UnsafePointer<Record>
    @usableFromInline let row: Row
    @usableFromInline let places: UnsafePointer<Int32>
    @usableFromInline var next = 0

    @inlinable @inline(__always)
    init(_ record: UnsafePointer<Record>, _ row: Row, _ places: UnsafePointer<Int32>) {
        (self.record, self.row, self.places) = (record, row, places)
    }

    @inlinable @inline(__always)
    mutating func value<Value: ColumnValue>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ isRequired: Bool, _ bound: ColumnBound?,
        _ path: AnyKeyPath?, _ get: (Record) -> Value?
    ) throws(Never) -> Value? {
        let value = get(record.pointee)
        row.set(Column(name, place: places[next]), value)
        next += 1
        return isRequired ? value : nil
    }

    @inlinable @inline(__always)
    mutating func storageCode<Value: StorageCode>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ isRequired: Bool, _ path: AnyKeyPath?,
        _ get: (Record) -> Value?
    ) throws(Never) -> Value? {
        let value = get(record.pointee)
        row.set(Column(name, place: places[next]), value)
        next += 1
        return isRequired ? value : nil
    }

    @inlinable @inline(__always)
    mutating func other<Value: ColumnValue>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ isRequired: Bool, _ bound: ColumnBound?,
        _ type: Value.Type
    ) {
        next += 1
    }

    @inlinable @inline(__always)
    func given<Value>(_ get: (Record.Given) -> Value, _ placeholder: @autoclosure () -> Value) -> Value {
        placeholder()
    }

    @inlinable
    func missing(_ column: StaticString) -> Never { preconditionFailure("\(column) has no value") }
}

/// Reads a record from a row.
@usableFromInline
struct ColumnReading<Record: StoredRecord, Row: ReadableRow>: ColumnCourse {
    @usableFromInline let row: Row
    @usableFromInline let given: Record.Given
    @usableFromInline let places: UnsafePointer<Int32>
    @usableFromInline var next = 0

    @inlinable @inline(__always)
    init(_ row: Row, _ given: Record.Given, _ places: UnsafePointer<Int32>) {
        (self.row, self.given, self.places) = (row, given, places)
    }

    @inlinable @inline(__always)
    mutating func value<Value: ColumnValue>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ isRequired: Bool, _ bound: ColumnBound?,
        _ path: AnyKeyPath?, _ get: (Record) -> Value?
    ) throws(StorageError) -> Value? {
        defer { next += 1 }
        return row[Column(name, place: places[next])]
    }

    @inlinable @inline(__always)
    mutating func storageCode<Value: StorageCode>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ isRequired: Bool, _ path: AnyKeyPath?,
        _ get: (Record) -> Value?
    ) throws(StorageError) -> Value? {
        defer { next += 1 }
        return try row.code(Column(name, place: places[next]))
    }

    @inlinable @inline(__always)
    mutating func other<Value: ColumnValue>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ isRequired: Bool, _ bound: ColumnBound?,
        _ type: Value.Type
    ) {
        next += 1
    }

    @inlinable @inline(__always)
    func given<Value>(_ get: (Record.Given) -> Value, _ placeholder: @autoclosure () -> Value) -> Value {
        get(given)
    }

    @inlinable
    func missing(_ column: StaticString) -> StorageError {
        row.missingValue(in: Column<Void>(column, place: Column<Void>.absent))
    }
}

/// Lists the columns. The record that the pass returns is ignored.
private struct ColumnListing<Record: StoredRecord>: ColumnCourse {
    var list: ColumnList
    var paths: [AnyKeyPath?] = []

    init(_ list: ColumnList) { self.list = list }

    mutating func value<Value: ColumnValue>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ isRequired: Bool, _ bound: ColumnBound?,
        _ path: AnyKeyPath?, _ get: (Record) -> Value?
    ) throws(Never) -> Value? {
        let _: Column<Value> = list(name, sensitivity, isRequired ? .required : .optional, bound)
        paths.append(path)
        return isRequired ? .placeholder : nil
    }

    mutating func storageCode<Value: StorageCode>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ isRequired: Bool, _ path: AnyKeyPath?,
        _ get: (Record) -> Value?
    ) throws(Never) -> Value? {
        let _: Column<Value> = list(name, sensitivity, isRequired ? .required : .optional)
        paths.append(path)
        return isRequired ? Value.numbered[0] : nil
    }

    mutating func other<Value: ColumnValue>(
        _ name: StaticString, _ sensitivity: Sensitivity, _ isRequired: Bool, _ bound: ColumnBound?,
        _ type: Value.Type
    ) {
        let _: Column<Value> = list(name, sensitivity, isRequired ? .required : .optional, bound)
        paths.append(nil)
    }

    func given<Value>(_ get: (Record.Given) -> Value, _ placeholder: @autoclosure () -> Value) -> Value {
        placeholder()
    }

    func missing(_ column: StaticString) -> Never { preconditionFailure("\(column) has no placeholder") }
}

/// A record's table, with the positions of its columns in a statement's rows or parameters.
@dynamicMemberLookup
public struct RecordTable<Record: StoredRecord>: Table {
    @usableFromInline let places: [Int32]

    public static var name: String { Record.table }

    public init(_ columns: inout ColumnList) {
        var listing = ColumnListing<Record>(columns)
        _ = Record.record(&listing)
        columns = listing.list
        places = columns.columns.map(\.place)
    }

    /// Writes the record's columns. The store writes all other columns.
    @inlinable
    public func write(_ record: Record, to row: some WritableRow) {
        withUnsafePointer(to: record) { record in
            places.withUnsafeBufferPointer { places in
                guard let places = places.baseAddress else { return }
                var course = ColumnWriting(record, row, places)
                _ = Record.record(&course)
            }
        }
    }

    @inlinable
    public func record<Row: ReadableRow>(_ row: Row, _ given: Record.Given) throws(StorageError) -> Record {
        try places.withUnsafeBufferPointer { (places) throws(StorageError) in
            guard let places = places.baseAddress else { preconditionFailure("\(Self.name) has no columns") }
            var course = ColumnReading<Record, Row>(row, given, places)
            return try Record.record(&course)
        }
    }

    // The columns for properties, used in statement text and for values outside the record. Each access
    // searches for the column, so code that needs a column in every row looks it up once, when its statement
    // is prepared.

    public subscript<Value>(dynamicMember path: KeyPath<Record, Value>) -> Column<Value> { self[path] }
    public subscript<Value>(dynamicMember path: KeyPath<Record, Value?>) -> Column<Value> { self[path] }
    public subscript<Value>(_ path: KeyPath<Record, Value>) -> Column<Value> { column { $1 == path } }
    public subscript<Value>(_ path: KeyPath<Record, Value?>) -> Column<Value> { column { $1 == path } }

    /// Returns a column that has no property.
    public subscript<Value>(_ name: String, _: Value.Type) -> Column<Value> {
        column { column, _ in column.name.description == name }
    }

    private func column<Value>(_ isSought: (any AnyColumn, AnyKeyPath?) -> Bool) -> Column<Value> {
        var listing = ColumnListing<Record>(ColumnList())
        _ = Record.record(&listing)
        for (index, column) in listing.list.columns.enumerated() where isSought(column, listing.paths[index])
        {
            precondition(column.valueType == Value.self, "\(Self.name).\(column.name) has another type")
            return Column(column.name, place: places[index])
        }
        preconditionFailure("\(Self.name) has no such column")
    }
}

extension RecordTable where Record.Given == Void {
    @inlinable
    public func record(_ row: some ReadableRow) throws(StorageError) -> Record { try record(row, ()) }
}
