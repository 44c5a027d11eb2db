import CLibPQ

/// Owns one `PGconn`. Not copyable, so libpq closes and frees it exactly once.
struct ConnectionHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Copies text that libpq keeps in the connection until it is closed.
    borrowing func text(_ field: (OpaquePointer) -> UnsafePointer<CChar>?) -> String? {
        field(pointer).map { String(cString: $0) }
    }

    deinit { PQfinish(pointer) }
}

/// Owns one `PGresult`. Not copyable, so libpq frees it exactly once.
struct ResultHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// Copies text that libpq keeps in the result until it is freed.
    borrowing func text(_ field: (OpaquePointer) -> UnsafePointer<CChar>?) -> String? {
        field(pointer).map { String(cString: $0) }
    }

    deinit { PQclear(pointer) }
}
