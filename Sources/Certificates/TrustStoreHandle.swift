import COpenSSL

/// Owns one `X509_STORE`. Not copyable, so OpenSSL frees it exactly once.
struct TrustStoreHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { X509_STORE_free(pointer) }
}
