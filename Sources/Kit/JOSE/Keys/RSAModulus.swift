import COpenSSL

/// The modulus of an RSA key, with values that are computed once for all signatures: the constants of
/// Montgomery multiplication, and the encoded message except for the digest.
///
/// Not copyable, so OpenSSL frees its numbers exactly once. They do not change after `init`, and OpenSSL only
/// reads them, so any number of threads may use them.
struct RSAModulus: ~Copyable {
    /// n.
    let number: BigNumber
    let montgomery: OpaquePointer
    /// EMSA-PKCS1-v1_5 (RFC 8017 §9.2) of a digest of 32 zeros, as a number: all bytes before the digest.
    let emptyMessage: BigNumber

    /// The bytes between the padding and a SHA-256 digest (RFC 8017 §9.2, note 1).
    private static let digestInfo: [UInt8] = [
        0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
        0x04, 0x20,
    ]

    /// `bytes` are the bytes of n, odd and of 2048 bits or more, big-endian. Throws `.keyUnusable`.
    init(_ bytes: [UInt8]) throws(JOSEError) {
        let digestSize = 32
        let runOfFF = bytes.count - 3 - Self.digestInfo.count - digestSize
        let message =
            [0x00, 0x01] + [UInt8](repeating: 0xFF, count: runOfFF) + [0x00] + Self.digestInfo
            + [UInt8](repeating: 0, count: digestSize)
        guard let number = BigNumber(bytes), let emptyMessage = BigNumber(message) else {
            throw JOSEError(.keyUnusable, detail: "no modulus")
        }
        let montgomery = BN_MONT_CTX_new()
        let context = BN_CTX_new()
        defer { BN_CTX_free(context) }
        guard let montgomery, let context, BN_MONT_CTX_set(montgomery, number.pointer, context) == 1 else {
            BN_MONT_CTX_free(montgomery)
            throw JOSEError(.keyUnusable, detail: "no modulus")
        }
        self.number = number
        self.montgomery = montgomery
        self.emptyMessage = emptyMessage
    }

    deinit { BN_MONT_CTX_free(montgomery) }
}

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
