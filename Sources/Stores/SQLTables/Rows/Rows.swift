public import AppleAccounts

/// A row that was read. A column is read as the type that it is declared with.
public protocol ReadableRow {
    /// Returns `nil` for NULL, and for a value that is not of the type.
    subscript<Value: ColumnValue>(_ column: Column<Value>) -> Value? { get }

    /// Returns the error for a missing required value.
    func missingValue(in column: any AnyColumn) -> StorageError
}

extension ReadableRow {
    /// - Throws: `StorageError` `corrupted` for NULL, and for a value that is not of the type.
    @inlinable
    public func required<Value: ColumnValue>(_ column: Column<Value>) throws(StorageError) -> Value {
        guard let value = self[column] else { throw missingValue(in: column) }
        return value
    }

    /// Returns `nil` for NULL.
    ///
    /// - Throws: `StorageError` `corrupted` for a number that this version does not know.
    @inlinable
    public func code<Value: StorageCode>(_ column: Column<Value>) throws(StorageError) -> Value? {
        guard let number = self[column.number] else { return nil }
        return try Value(storageCode: number)
    }

    /// - Throws: `StorageError` `corrupted` for NULL, and for a number that this version does not know.
    @inlinable
    public func requiredCode<Value: StorageCode>(_ column: Column<Value>) throws(StorageError) -> Value {
        guard let value = try code(column) else { throw missingValue(in: column) }
        return value
    }
}

/// A row that is written. A column that is not set is NULL, and a column that the statement does not have is
/// left out: so one function writes a record for every choice of columns.
public protocol WritableRow {
    func set<Value: ColumnValue>(_ column: Column<Value>, _ value: Value?)
}

extension WritableRow {
    @inlinable
    public func set<Value: StorageCode>(_ column: Column<Value>, _ value: Value?) {
        set(column.number, value?.storageCode)
    }
}

extension Column where Value: StorageCode {
    /// Returns the same column with its stored type: codes are numbers.
    @inlinable
    public var number: Column<Int64> { Column<Int64>(name, place: place) }
}
