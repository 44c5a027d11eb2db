import COpenSSL

/// Owns one `EVP_PKEY`. Not copyable, so OpenSSL frees it exactly once.
struct PublicKeyHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }
}
