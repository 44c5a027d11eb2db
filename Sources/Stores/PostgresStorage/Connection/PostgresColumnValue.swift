import AppAttestation
import AppleAccounts
import CLibPQ
import Cryptography
import SQLTables

/// A type that a parameter can have.
protocol PostgresArgument: Sendable {
    /// The SQL type that the parameter is cast to.
    static var sqlType: String { get }

    var bound: PostgresValue { get }
}

/// A column type that can also be a parameter type, alone or in an array.
///
/// Smaller integers are bound as bigint, and the SQL or the column casts them.
protocol PostgresColumnValue: ColumnValue, PostgresArgument, PostgresElement {}

extension PostgresColumnValue {
    static var sqlType: String { form.postgresType }
    static var elementType: String { sqlType }

    var bound: PostgresValue {
        var slot = PostgresSlot()
        put(into: &slot)
        return slot.value
    }

    static func bound(_ values: [Self]) -> PostgresValue { array(values) }

    static func array(_ values: [Self?]) -> PostgresValue {
        var array = PostgresArray(of: form.type)
        for value in values { array.append(value) }
        return .array(array)
    }
}

extension ColumnForm {
    var type: Oid {
        switch self {
        case .integer: PostgresType.bigint
        case .text: PostgresType.text
        case .boolean: PostgresType.boolean
        case .uniqueID: PostgresType.uuid
        case .bytes: PostgresType.bytes
        }
    }
}

extension Int64: PostgresColumnValue {}
extension String: PostgresColumnValue {}
extension Bool: PostgresColumnValue {}
extension Moment: PostgresColumnValue {}
extension UniqueID: PostgresColumnValue {}
extension SHA256Digest: PostgresColumnValue {}
extension SHA512Digest: PostgresColumnValue {}
extension AccountID: PostgresColumnValue {}
extension ErasureID: PostgresColumnValue {}
extension EventID: PostgresColumnValue {}
extension GrantID: PostgresColumnValue {}
extension OAuthClientID: PostgresColumnValue {}
extension ReceiverName: PostgresColumnValue {}
extension TeamID: PostgresColumnValue {}
extension ClientID: PostgresColumnValue {}
extension InboxIdentifier: PostgresColumnValue {}
extension NonceDigest: PostgresColumnValue {}
extension TicketDigest: PostgresColumnValue {}
extension SealedSecret: PostgresColumnValue {}
extension AttestedKeyID: PostgresColumnValue {}
extension AppID: PostgresColumnValue {}

/// A column type that only PostgreSQL has.
protocol PostgresSystemValue: Sendable {
    static var sqlType: String { get }
    static var type: Oid { get }

    /// Reads a value in PostgreSQL's binary format.
    init(cell: PostgresCell)

    func put(into array: inout PostgresArray)
}

/// A value bound to a parameter. All values are sent in PostgreSQL's binary format.
///
/// `integer` is for bigint parameters; the SQL casts them to narrower types.
enum PostgresValue: Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
    case uuid(UniqueID)
    case boolean(Bool)
    case array(PostgresArray)
}

/// The object IDs of the SQL types that the service binds and reads (`pg_type.dat`). They are the same in
/// every database.
enum PostgresType {
    static let boolean: Oid = 16
    static let bytes: Oid = 17
    static let name: Oid = 19
    static let bigint: Oid = 20
    static let smallint: Oid = 21
    static let integer: Oid = 23
    static let text: Oid = 25
    static let rowPlace: Oid = 27
    static let transaction: Oid = 28
    static let varchar: Oid = 1043
    static let uuid: Oid = 2950
}

/// An array parameter in PostgreSQL's binary format: each element after its length.
struct PostgresArray: ColumnSlot, Sendable {
    let elementType: Oid
    private(set) var count = 0
    private(set) var hasNull = false
    /// The elements' bytes, without the header.
    private(set) var bytes: [UInt8] = []

    init(of elementType: Oid) {
        self.elementType = elementType
    }

    /// Appends an element, or NULL for `nil`.
    mutating func append(_ element: (some ColumnValue)?) {
        if let element { element.put(into: &self) } else { appendNull() }
    }

    mutating func append(_ element: some PostgresSystemValue) {
        element.put(into: &self)
    }

    mutating func appendNull() {
        append(bigEndian: UInt32.max)
        count += 1
        hasNull = true
    }

    mutating func put(_ integer: Int64) {
        begin(length: 8)
        append(bigEndian: integer)
    }

    mutating func put(_ text: String) {
        begin(length: text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    mutating func put(_ isTrue: Bool) {
        begin(length: 1)
        bytes.append(isTrue ? 1 : 0)
    }

    mutating func put(_ id: UniqueID) {
        begin(length: 16)
        append(bigEndian: id.high)
        append(bigEndian: id.low)
    }

    mutating func put(_ bytes: UnsafeRawBufferPointer) {
        begin(length: bytes.count)
        self.bytes.append(contentsOf: bytes)
    }

    mutating func put(_ place: RowPlace) {
        begin(length: 6)
        append(bigEndian: place.block)
        append(bigEndian: place.line)
    }

    mutating func put(_ transaction: TransactionNumber) {
        begin(length: 4)
        append(bigEndian: transaction.value)
    }

    @inline(__always)
    private mutating func begin(length: Int) {
        append(bigEndian: UInt32(truncatingIfNeeded: length))
        count += 1
    }

    @inline(__always)
    private mutating func append(bigEndian value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
