import AppleAccounts

/// A value bound to a parameter. All are sent in PostgreSQL's binary format.
///
/// `integer` is for parameters of the type bigint: the SQL casts to narrower types.
enum PostgresValue: Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
    case uuid(UniqueID)
    case boolean(Bool)
    case array(PostgresArray)
}
