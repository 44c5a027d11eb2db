import CLibPQ

/// The object IDs of the types that are bound and read (`pg_type.dat`). They are the same in every database.
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
