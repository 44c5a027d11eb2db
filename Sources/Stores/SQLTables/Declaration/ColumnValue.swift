public import AppAttestation
public import AppleAccounts
public import Cryptography

/// The storage form of a column's values. Each store maps each form to one of its own types.
public enum ColumnForm: Sendable, Hashable {
    case integer, text, boolean, uniqueID, bytes
}

/// A value type that a column can have in both stores.
public protocol ColumnValue: Sendable {
    static var form: ColumnForm { get }

    /// The bound on the type's values; `nil` if the form is the only bound.
    static var bound: ColumnBound? { get }

    /// Any valid value, used while a record lists its columns. Only value types of such records need it.
    static var placeholder: Self { get }

    /// Reads a value in its storage form. Returns `nil` for NULL, and for a value invalid for this type.
    init?(cell: some ColumnCell)

    /// Writes the value in its storage form.
    func put(into slot: inout some ColumnSlot)
}

extension ColumnValue {
    @inlinable public static var bound: ColumnBound? { nil }
    public static var placeholder: Self { preconditionFailure("\(Self.self) has no placeholder") }
}

/// One value in a row, in the store's own form. Each function returns `nil` for NULL.
///
/// The store stops the process if the column has a different form, because that is a programming error.
public protocol ColumnCell {
    func integer() -> Int64?
    func text() -> String?
    func boolean() -> Bool?
    func uniqueID() -> UniqueID?

    /// Passes the bytes to `make`. The bytes are freed when `make` returns.
    func bytes<Value>(_ make: (UnsafeRawBufferPointer) -> Value?) -> Value?
}

/// A slot for one value in a row that the store writes.
public protocol ColumnSlot {
    mutating func put(_ integer: Int64)
    mutating func put(_ text: String)
    mutating func put(_ isTrue: Bool)
    mutating func put(_ id: UniqueID)

    /// Copies the bytes.
    mutating func put(_ bytes: UnsafeRawBufferPointer)
}

/// A result row. Each column is read as its declared type.
public protocol ReadableRow {
    /// Returns the value of a column; `nil` for NULL, and for a value that is invalid for the type.
    subscript<Value: ColumnValue>(_ column: Column<Value>) -> Value? { get }

    /// Returns the error to throw when a required value is missing.
    func missingValue(in column: any AnyColumn) -> StorageError
}

extension ReadableRow {
    /// - Throws: `StorageError` `corrupted` for NULL, and for a value that is invalid for the type.
    @inlinable
    public func required<Value: ColumnValue>(_ column: Column<Value>) throws(StorageError) -> Value {
        guard let value = self[column] else { throw missingValue(in: column) }
        return value
    }

    /// Returns the code stored in a column; `nil` for NULL.
    ///
    /// - Throws: `StorageError` `corrupted` for a code number that this version does not know.
    @inlinable
    public func code<Value: StorageCode>(_ column: Column<Value>) throws(StorageError) -> Value? {
        guard let number = self[column.number] else { return nil }
        return try Value(storageCode: number)
    }

    /// - Throws: `StorageError` `corrupted` for NULL, and for a code number that this version does not know.
    @inlinable
    public func requiredCode<Value: StorageCode>(_ column: Column<Value>) throws(StorageError) -> Value {
        guard let value = try code(column) else { throw missingValue(in: column) }
        return value
    }
}

/// A row that the store writes. Unset columns become NULL, and columns outside the statement are skipped, so
/// one function can write a record for any choice of columns.
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
    /// This column, typed as it is stored: a code is stored as a number.
    @inlinable
    public var number: Column<Int64> { Column<Int64>(name, place: place) }
}

// The storage forms of the value types, for both stores.

extension Int64: ColumnValue {
    @inlinable public static var form: ColumnForm { .integer }
    @inlinable public static var placeholder: Self { 0 }

    @inlinable public init?(cell: some ColumnCell) {
        guard let value = cell.integer() else { return nil }
        self = value
    }

    @inlinable public func put(into slot: inout some ColumnSlot) { slot.put(self) }
}

extension String: ColumnValue {
    @inlinable public static var form: ColumnForm { .text }
    @inlinable public static var placeholder: Self { "" }

    @inlinable public init?(cell: some ColumnCell) {
        guard let value = cell.text() else { return nil }
        self = value
    }

    @inlinable public func put(into slot: inout some ColumnSlot) { slot.put(self) }
}

extension Bool: ColumnValue {
    @inlinable public static var form: ColumnForm { .boolean }
    @inlinable public static var placeholder: Self { false }

    @inlinable public init?(cell: some ColumnCell) {
        guard let value = cell.boolean() else { return nil }
        self = value
    }

    @inlinable public func put(into slot: inout some ColumnSlot) { slot.put(self) }
}

extension UniqueID: ColumnValue {
    @inlinable public static var form: ColumnForm { .uniqueID }
    @inlinable public static var placeholder: Self { UniqueID(high: 0, low: 0) }

    @inlinable public init?(cell: some ColumnCell) {
        guard let value = cell.uniqueID() else { return nil }
        self = value
    }

    @inlinable public func put(into slot: inout some ColumnSlot) { slot.put(self) }
}

extension [UInt8]: ColumnValue {
    @inlinable public static var form: ColumnForm { .bytes }
    @inlinable public static var placeholder: Self { [] }

    @inlinable public init?(cell: some ColumnCell) {
        guard let value = cell.bytes({ Array($0) }) else { return nil }
        self = value
    }

    @inlinable public func put(into slot: inout some ColumnSlot) { withUnsafeBytes { slot.put($0) } }
}

extension SHA256Digest: ColumnValue {
    @inlinable public static var form: ColumnForm { .bytes }
    @inlinable public static var bound: ColumnBound? { .length(32...32) }
    public static let placeholder = hash([])

    @inlinable public init?(cell: some ColumnCell) {
        guard let value = cell.bytes({ SHA256Digest($0) }) else { return nil }
        self = value
    }

    @inlinable public func put(into slot: inout some ColumnSlot) { withUnsafeBytes { slot.put($0) } }
}

extension SHA512Digest: ColumnValue {
    @inlinable public static var form: ColumnForm { .bytes }
    @inlinable public static var bound: ColumnBound? { .length(64...64) }
    public static let placeholder = hash([])

    @inlinable public init?(cell: some ColumnCell) {
        guard let value = cell.bytes({ SHA512Digest($0) }) else { return nil }
        self = value
    }

    @inlinable public func put(into slot: inout some ColumnSlot) { bytes.withUnsafeBytes { slot.put($0) } }
}

/// A domain value that a column stores as another, simpler value.
public protocol StoredForm: ColumnValue {
    associatedtype Stored: ColumnValue

    /// Returns `nil` for a stored value that is invalid for this type.
    init?(stored: Stored)

    var stored: Stored { get }
}

extension StoredForm {
    @inlinable public static var form: ColumnForm { Stored.form }
    @inlinable public static var bound: ColumnBound? { Stored.bound }
    public static var placeholder: Self { valid(.placeholder) }

    static func valid(_ stored: Stored) -> Self {
        guard let value = Self(stored: stored) else {
            preconditionFailure("\(Self.self) needs its own placeholder")
        }
        return value
    }

    @inlinable public init?(cell: some ColumnCell) {
        guard let stored = Stored(cell: cell) else { return nil }
        self.init(stored: stored)
    }

    @inlinable public func put(into slot: inout some ColumnSlot) { stored.put(into: &slot) }
}

extension Moment: StoredForm {
    @inlinable public static var bound: ColumnBound? { .range(0...Moment.last.milliseconds) }
    @inlinable public init(stored: Int64) { self.init(milliseconds: stored) }
    @inlinable public var stored: Int64 { milliseconds }
}

extension AccountID: StoredForm {
    @inlinable public init(stored: UniqueID) { self.init(stored) }
    @inlinable public var stored: UniqueID { uniqueID }
}

extension ErasureID: StoredForm {
    @inlinable public init(stored: UniqueID) { self.init(stored) }
    @inlinable public var stored: UniqueID { uniqueID }
}

extension EventID: StoredForm {
    @inlinable public init(stored: UniqueID) { self.init(stored) }
    @inlinable public var stored: UniqueID { uniqueID }
}

extension GrantID: StoredForm {
    @inlinable public init(stored: UniqueID) { self.init(stored) }
    @inlinable public var stored: UniqueID { uniqueID }
}

extension OAuthClientID: StoredForm {
    @inlinable public static var bound: ColumnBound? { .length(1...255) }
    public static let placeholder = valid("a")
    @inlinable public init?(stored: String) { self.init(stored) }
    @inlinable public var stored: String { rawValue }
}

extension ReceiverName: StoredForm {
    @inlinable public static var bound: ColumnBound? { .length(1...ReceiverName.longest) }
    public static let placeholder = valid("a")
    @inlinable public init?(stored: String) { self.init(stored) }
    @inlinable public var stored: String { rawValue }
}

extension TeamID: StoredForm {
    public static let placeholder = valid("a")
    @inlinable public init?(stored: String) { self.init(stored) }
    @inlinable public var stored: String { rawValue }
}

extension ClientID: StoredForm {
    public static let placeholder = valid("a")
    @inlinable public init?(stored: String) { self.init(stored) }
    @inlinable public var stored: String { rawValue }
}

extension InboxIdentifier: StoredForm {
    @inlinable public static var bound: ColumnBound? { .length(1...255) }
    public static let placeholder = valid("a")
    @inlinable public init?(stored: String) { self.init(stored) }
    @inlinable public var stored: String { rawValue }
}

extension SealedSecret: StoredForm {
    @inlinable public static var bound: ColumnBound? { .length(1...SealedSecret.longest) }
    public static let placeholder = valid([0])
    @inlinable public init?(stored: [UInt8]) { self.init(stored) }
    @inlinable public var stored: [UInt8] { bytes }
}

extension NonceDigest: StoredForm {
    @inlinable public init(stored: SHA256Digest) { self.init(stored) }
    @inlinable public var stored: SHA256Digest { digest }
}

extension TicketDigest: StoredForm {
    @inlinable public init(stored: SHA256Digest) { self.init(stored) }
    @inlinable public var stored: SHA256Digest { digest }
}

extension AttestedKeyID: StoredForm {
    @inlinable public init(stored: SHA256Digest) { self.init(stored) }
    @inlinable public var stored: SHA256Digest { digest }
}

extension AppID: StoredForm {
    @inlinable public static var bound: ColumnBound? { .length(12...166) }
    public static let placeholder = valid("ABCDE12345.a")
    @inlinable public init?(stored: String) { self.init(text: stored) }
    @inlinable public var stored: String { text }
}

extension AppleSubject: StoredForm {
    @inlinable public static var bound: ColumnBound? { .length(1...255) }
    public static let placeholder = valid("a")
    @inlinable public init?(stored: String) { self.init(stored) }
    @inlinable public var stored: String { rawValue }
}

extension UInt32: StoredForm {
    @inlinable public static var bound: ColumnBound? { .range(0...Int64(UInt32.max)) }
    @inlinable public init?(stored: Int64) { self.init(exactly: stored) }
    @inlinable public var stored: Int64 { Int64(self) }
}
