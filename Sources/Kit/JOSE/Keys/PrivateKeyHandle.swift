import COpenSSL

/// Owns one private `EVP_PKEY`. Not copyable, so that OpenSSL frees it exactly once.
struct PrivateKeyHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }
}
