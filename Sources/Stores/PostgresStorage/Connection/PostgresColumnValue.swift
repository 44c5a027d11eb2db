import AppAttestation
import AppleAccounts
import CLibPQ
import Cryptography
import SQLTables

/// A value of one parameter.
protocol PostgresArgument: Sendable {
    /// SQL type that the parameter is cast to.
    static var sqlType: String { get }

    var bound: PostgresValue { get }
}

/// A column type that is also a parameter type, alone or in an array.
///
/// Smaller integers are bound as bigint: the SQL or the column casts them.
protocol PostgresColumnValue: ColumnValue, PostgresArgument, PostgresElement {}

extension PostgresColumnValue {
    static var sqlType: String { form.sqlType }
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
    var sqlType: String {
        switch self {
        case .integer: "bigint"
        case .text: "text"
        case .boolean: "boolean"
        case .uniqueID: "uuid"
        case .bytes: "bytea"
        }
    }

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

/// Bytes as a parameter. `[UInt8]` would be an array of parameters.
struct ByteString: PostgresArgument {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    static var sqlType: String { ColumnForm.bytes.sqlType }

    var bound: PostgresValue { .bytes(bytes) }
}

/// A column type that only PostgreSQL has.
protocol PostgresSystemValue: Sendable {
    static var sqlType: String { get }
    static var type: Oid { get }

    /// Reads a value in PostgreSQL's binary format.
    init(cell: PostgresCell)

    func put(into array: inout PostgresArray)
}
