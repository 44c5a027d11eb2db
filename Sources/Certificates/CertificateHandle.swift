import COpenSSL

/// Owns one `X509`. Not copyable, so OpenSSL frees it exactly once.
struct CertificateHandle: ~Copyable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { X509_free(pointer) }
}
