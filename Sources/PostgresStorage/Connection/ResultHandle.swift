import CLibPQ

/// Owns one `PGresult`. Not copyable, so libpq frees it exactly once.
struct ResultHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { PQclear(pointer) }
}
