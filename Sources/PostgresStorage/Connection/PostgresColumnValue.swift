import AppleAccounts
import CLibPQ
import Cryptography

/// A type that a column of PostgreSQL can have.
///
/// Smaller integers are bound as bigint: the SQL or the column casts them.
protocol PostgresColumnValue: PostgresArgument, PostgresElement {
    /// Reads a value in PostgreSQL's binary format. Returns `nil` for a value that is none of this type.
    ///
    /// A column of another type in the SQL is a programmer's error and stops the process.
    init?(_ bytes: UnsafeRawBufferPointer, type: Oid, in column: StaticString)

    static func array(_ values: [Self?]) -> PostgresValue
}

/// A value of one parameter.
protocol PostgresArgument: Sendable {
    /// The type that the parameter is cast to.
    static var sqlType: String { get }

    var bound: PostgresValue { get }
}

extension Int64: PostgresColumnValue {
    static var sqlType: String { "bigint" }

    init?(_ bytes: UnsafeRawBufferPointer, type: Oid, in column: StaticString) {
        switch type {
        case PostgresType.bigint: self.init(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case PostgresType.integer: self = Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case PostgresType.smallint: self = Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        default: preconditionFailure("column \(column) has the type \(type)")
        }
    }

    var bound: PostgresValue { .integer(self) }

    static func array(_ values: [Int64?]) -> PostgresValue { .integers(values) }
}

extension Moment: PostgresColumnValue {
    static var sqlType: String { Int64.sqlType }

    init?(_ bytes: UnsafeRawBufferPointer, type: Oid, in column: StaticString) {
        guard let milliseconds = Int64(bytes, type: type, in: column) else { return nil }
        self.init(milliseconds: milliseconds)
    }

    var bound: PostgresValue { .integer(milliseconds) }

    static func array(_ values: [Moment?]) -> PostgresValue { .integers(values.map { $0?.milliseconds }) }
}

extension String: PostgresColumnValue {
    static var sqlType: String { "text" }

    init?(_ bytes: UnsafeRawBufferPointer, type: Oid, in column: StaticString) {
        precondition(
            type == PostgresType.text || type == PostgresType.name || type == PostgresType.varchar,
            "column \(column) has the type \(type)")
        self.init(decoding: bytes, as: UTF8.self)
    }

    var bound: PostgresValue { .text(self) }

    static func array(_ values: [String?]) -> PostgresValue { .texts(values) }
}

extension Bool: PostgresColumnValue {
    static var sqlType: String { "boolean" }

    init?(_ bytes: UnsafeRawBufferPointer, type: Oid, in column: StaticString) {
        precondition(type == PostgresType.boolean, "column \(column) has the type \(type)")
        self = bytes[0] != 0
    }

    var bound: PostgresValue { .boolean(self) }

    static func array(_ values: [Bool?]) -> PostgresValue { .booleans(values) }
}

extension UniqueID: PostgresColumnValue {
    static var sqlType: String { "uuid" }

    init?(_ bytes: UnsafeRawBufferPointer, type: Oid, in column: StaticString) {
        precondition(type == PostgresType.uuid, "column \(column) has the type \(type)")
        self.init(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    var bound: PostgresValue { .uuid(self) }

    static func array(_ values: [UniqueID?]) -> PostgresValue { .uuids(values) }
}

/// Bytes of a `bytea`. An array of numbers would be an array of parameters.
struct ByteString: PostgresColumnValue {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    static var sqlType: String { "bytea" }

    init?(_ bytes: UnsafeRawBufferPointer, type: Oid, in column: StaticString) {
        precondition(type == PostgresType.bytes, "column \(column) has the type \(type)")
        self.bytes = Array(bytes)
    }

    var bound: PostgresValue { .bytes(bytes) }

    static func array(_ values: [ByteString?]) -> PostgresValue { .byteStrings(values.map { $0?.bytes }) }
}

extension SHA256Digest: PostgresColumnValue {
    static var sqlType: String { ByteString.sqlType }

    init?(_ bytes: UnsafeRawBufferPointer, type: Oid, in column: StaticString) {
        precondition(type == PostgresType.bytes, "column \(column) has the type \(type)")
        self.init(bytes)
    }

    var bound: PostgresValue { .bytes(bytes) }

    static func array(_ values: [SHA256Digest?]) -> PostgresValue { .byteStrings(values.map { $0?.bytes }) }
}

extension SHA512Digest: PostgresColumnValue {
    static var sqlType: String { ByteString.sqlType }

    init?(_ bytes: UnsafeRawBufferPointer, type: Oid, in column: StaticString) {
        precondition(type == PostgresType.bytes, "column \(column) has the type \(type)")
        self.init(bytes)
    }

    var bound: PostgresValue { .bytes(bytes) }

    static func array(_ values: [SHA512Digest?]) -> PostgresValue { .byteStrings(values.map { $0?.bytes }) }
}

extension PostgresColumnValue {
    static var elementType: String { sqlType }

    static func bound(_ values: [Self]) -> PostgresValue { array(values) }
}

// Values of the domain that a column holds in another form.
extension PostgresColumnValue where Self: StoredForm, Stored: PostgresColumnValue {
    static var sqlType: String { Stored.sqlType }

    init?(_ bytes: UnsafeRawBufferPointer, type: Oid, in column: StaticString) {
        guard let stored = Stored(bytes, type: type, in: column) else { return nil }
        self.init(stored: stored)
    }

    var bound: PostgresValue { stored.bound }

    static func array(_ values: [Self?]) -> PostgresValue { Stored.array(values.map { $0?.stored }) }
}

extension PostgresColumnValue where Self: StoredForm, Stored == [UInt8] {
    static var sqlType: String { ByteString.sqlType }

    init?(_ bytes: UnsafeRawBufferPointer, type: Oid, in column: StaticString) {
        guard let stored = ByteString(bytes, type: type, in: column) else { return nil }
        self.init(stored: stored.bytes)
    }

    var bound: PostgresValue { .bytes(stored) }

    static func array(_ values: [Self?]) -> PostgresValue { .byteStrings(values.map { $0?.stored }) }
}

extension AccountID: PostgresColumnValue {}
extension ErasureID: PostgresColumnValue {}
extension EventID: PostgresColumnValue {}
extension GrantID: PostgresColumnValue {}
extension OAuthClientID: PostgresColumnValue {}
extension TeamID: PostgresColumnValue {}
extension ClientID: PostgresColumnValue {}
extension InboxIdentifier: PostgresColumnValue {}
extension NonceDigest: PostgresColumnValue {}
extension TicketDigest: PostgresColumnValue {}
extension SealedSecret: PostgresColumnValue {}
