import CLibPQ

/// Owns one `PGconn`. Not copyable, so libpq closes and frees it exactly once.
struct ConnectionHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { PQfinish(pointer) }
}
