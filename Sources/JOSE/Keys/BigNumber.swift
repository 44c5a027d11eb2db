import COpenSSL

/// Owns one `BIGNUM` of OpenSSL. Not copyable, so OpenSSL frees it exactly once.
package struct BigNumber: ~Copyable {
    package let pointer: OpaquePointer

    /// Creates zero. Returns `nil` when there is no memory.
    package init?() {
        guard let pointer = BN_new() else { return nil }
        self.pointer = pointer
    }

    /// `bytes` are big-endian. Returns `nil` when there is no memory.
    package init?(_ bytes: [UInt8]) {
        guard let pointer = BN_bin2bn(bytes, Int32(bytes.count), nil) else { return nil }
        self.pointer = pointer
    }

    deinit { BN_free(pointer) }
}
