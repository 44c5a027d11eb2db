public import AppleAccounts

/// The form in which a column holds its values. Each store has a type for each form.
public enum ColumnForm: Sendable, Hashable {
    case integer, text, boolean, uniqueID, bytes
}

/// A type of value that a column of both stores can have.
public protocol ColumnValue: Sendable {
    static var form: ColumnForm { get }

    /// The values that the type can have. `nil` where the form is the only bound.
    static var bound: ColumnBound? { get }

    /// Reads a value in its form. Returns `nil` for NULL, and for a value that is not of this type.
    init?(cell: some ColumnCell)

    /// Writes the value in its form.
    func put(into slot: inout some ColumnSlot)
}

extension ColumnValue {
    @inlinable public static var bound: ColumnBound? { nil }
}

/// One value of a row in a store's own form. Each function returns `nil` for NULL.
///
/// A store stops the process when the column has another form, which is a programmer's error.
public protocol ColumnCell {
    func integer() -> Int64?
    func text() -> String?
    func boolean() -> Bool?
    func uniqueID() -> UniqueID?

    /// Lends the bytes, which are freed afterwards.
    func bytes<Value>(_ make: (UnsafeRawBufferPointer) -> Value?) -> Value?
}

/// The slot of one value in a row that is written.
public protocol ColumnSlot {
    mutating func put(_ integer: Int64)
    mutating func put(_ text: String)
    mutating func put(_ isTrue: Bool)
    mutating func put(_ id: UniqueID)

    /// Copies the bytes.
    mutating func put(_ bytes: UnsafeRawBufferPointer)
}
