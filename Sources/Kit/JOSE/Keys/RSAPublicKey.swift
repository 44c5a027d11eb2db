import COpenSSL
import Cryptography
import Synchronization

/// An RSA public key that may verify RS256 signatures. It is parsed once.
///
/// The initializer accepts only safe keys, with an odd modulus of 2048 to 4096 bits and the exponent 65537.
/// With the exponent 1, anyone could forge signatures. With a huge exponent, verification would be hundreds
/// of times slower.
public final class RSAPublicKey: @unchecked Sendable {
    // `@unchecked`: the numbers never change after `init`, verification only reads them, and each context of
    // the pool is used by only one thread at a time.
    private let number: RSAModulus
    private let pool: Mutex<ContextPool>

    let modulus: [UInt8]
    let exponent: [UInt8]

    /// Creates a key from two big-endian numbers, ignoring leading zeros. Throws `.keyUnusable` unless the
    /// modulus is odd and has 2048 to 4096 bits, and the exponent is 65537.
    public init(modulus: [UInt8], exponent: [UInt8]) throws(JOSEError) {
        let modulus = Array(modulus.drop { $0 == 0 })
        let exponent = Array(exponent.drop { $0 == 0 })
        guard let first = modulus.first, let last = modulus.last, last & 1 == 1 else {
            throw JOSEError(.keyUnusable, detail: "even modulus")
        }
        let bits = modulus.count * 8 - first.leadingZeroBitCount
        guard (2048...4096).contains(bits) else { throw JOSEError(.keyUnusable, detail: "\(bits) bits") }
        guard exponent == [1, 0, 1] else { throw JOSEError(.keyUnusable, detail: "exponent is not 65537") }
        number = try RSAModulus(modulus)
        pool = Mutex(ContextPool())
        self.modulus = modulus
        self.exponent = exponent
    }

    /// Verifies an RSASSA-PKCS1-v1_5 signature with SHA-256 (RFC 7518 §3.3). Returns false unless the
    /// signature is valid and exactly as long as the modulus.
    public func isValidSignature(_ signature: [UInt8], for message: ArraySlice<UInt8>) -> Bool {
        guard signature.count == modulus.count, let digest = SHA256Digest.algorithm else { return false }
        let pooled = pool.withLock { $0.take() }
        guard let context = pooled ?? PooledContext(digest: digest) else { return false }
        let isValid = context.context.isValid(signature, for: message, of: number)
        // A refused signature leaves entries in the thread's error queue that no other code would remove.
        if !isValid { ERR_clear_error() }
        pool.withLock { $0.put(context) }
        return isValid
    }
}

/// One reusable context on the heap, so that moving it to or from the pool copies only a reference.
private final class PooledContext {
    let context: VerificationContext

    init?(digest: OpaquePointer) {
        guard let context = VerificationContext(digest: digest) else { return nil }
        self.context = context
    }
}

private struct ContextPool {
    /// The maximum number of contexts in the pool. The pool never needs more contexts than there are threads
    /// verifying at once, so the limit is only a safeguard.
    private static let capacity = 64
    nonisolated(unsafe) private var free: [PooledContext] = []

    mutating func take() -> sending PooledContext? { free.popLast() }

    mutating func put(_ context: PooledContext) {
        if free.count < Self.capacity { free.append(context) }
    }
}

/// Verifies RSASSA-PKCS1-v1_5 signatures with SHA-256 and the exponent 65537 (RFC 8017 §8.2.2). A context
/// holds memory for the numbers and the digest, so the pool reuses it, in one thread at a time.
///
/// It uses OpenSSL's big-number arithmetic because `EVP_PKEY_verify` needs a new setup for every signature,
/// uses general exponentiation, and takes 25% longer. All values are public, so constant time is not needed.
/// The result is compared with the complete expected encoded message for the digest, instead of parsing the
/// padding, because lenient padding parsers allow forged signatures.
struct VerificationContext: ~Copyable {
    private let digestContext: OpaquePointer
    private let numberContext: OpaquePointer
    private let signature: BigNumber
    private let power: BigNumber

    private static let digestSize = 32

    init?(digest: OpaquePointer) {
        guard let signature = BigNumber(), let power = BigNumber() else { return nil }
        let digestContext = EVP_MD_CTX_new()
        let numberContext = BN_CTX_new()
        guard let digestContext, let numberContext, EVP_DigestInit_ex(digestContext, digest, nil) == 1 else {
            EVP_MD_CTX_free(digestContext)
            BN_CTX_free(numberContext)
            return nil
        }
        self.digestContext = digestContext
        self.numberContext = numberContext
        self.signature = signature
        self.power = power
    }

    borrowing func isValid(
        _ signature: [UInt8], for message: ArraySlice<UInt8>, of modulus: borrowing RSAModulus
    ) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2 * Self.digestSize) { memory in
            let signed = UnsafeMutableBufferPointer(rebasing: memory[..<Self.digestSize])
            let digest = UnsafeMutableBufferPointer(rebasing: memory[Self.digestSize...])
            return readSignedDigest(of: signature, modulus, into: signed) && hash(message, into: digest)
                && signed.elementsEqual(digest)
        }
    }

    /// Reads the digest in a signature. Returns `false` if the signature does not contain an encoded digest.
    private borrowing func readSignedDigest(
        of bytes: [UInt8], _ modulus: borrowing RSAModulus, into digest: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        // RFC 8017 §5.2.2: a number that is not smaller than the modulus would be a second encoding of the
        // same signature, so it is refused.
        guard BN_bin2bn(bytes, Int32(bytes.count), signature.pointer) != nil,
            BN_ucmp(signature.pointer, modulus.number.pointer) < 0, raiseSignature(modulus)
        else { return false }
        // After subtracting the rest of the message, the remainder must fit into the digest size.
        // BN_bn2binpad refuses larger numbers, but ignores the sign, so the sign is checked first.
        let power = power.pointer
        return BN_sub(power, power, modulus.emptyMessage.pointer) == 1 && BN_is_negative(power) == 0
            && BN_bn2binpad(power, digest.baseAddress, Int32(Self.digestSize)) == Int32(Self.digestSize)
    }

    /// Raises the signature to the exponent 65537 = 2¹⁶ + 1. Returns false if OpenSSL fails.
    private borrowing func raiseSignature(_ modulus: borrowing RSAModulus) -> Bool {
        let (power, signature) = (power.pointer, signature.pointer)
        guard BN_to_montgomery(power, signature, modulus.montgomery, numberContext) == 1 else { return false }
        for _ in 0..<16 {
            guard BN_mod_mul_montgomery(power, power, power, modulus.montgomery, numberContext) == 1 else {
                return false
            }
        }
        // Multiplying by the plain signature also converts the result back from Montgomery form.
        return BN_mod_mul_montgomery(power, power, signature, modulus.montgomery, numberContext) == 1
    }

    private borrowing func hash(
        _ message: ArraySlice<UInt8>, into digest: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        message.withUnsafeBufferPointer { message in
            EVP_DigestInit_ex(digestContext, nil, nil) == 1
                && EVP_DigestUpdate(digestContext, message.baseAddress, message.count) == 1
                && EVP_DigestFinal_ex(digestContext, digest.baseAddress, nil) == 1
        }
    }

    deinit {
        EVP_MD_CTX_free(digestContext)
        BN_CTX_free(numberContext)
    }
}

/// The modulus of an RSA key, with values that all signatures share: the Montgomery multiplication constants,
/// and the encoded message without the digest. Each value is computed once.
///
/// Not copyable, so OpenSSL frees its numbers exactly once. The numbers never change after `init`, and
/// OpenSSL only reads them, so any number of threads may use them.
struct RSAModulus: ~Copyable {
    /// The modulus n.
    let number: BigNumber
    let montgomery: OpaquePointer
    /// EMSA-PKCS1-v1_5 encoding (RFC 8017 §9.2) of a digest of 32 zero bytes, as a number. It therefore holds
    /// all bytes before the digest.
    let emptyMessage: BigNumber

    /// Bytes between the padding and a SHA-256 digest (RFC 8017 §9.2, note 1).
    private static let digestInfo: [UInt8] = [
        0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
        0x04, 0x20,
    ]

    /// Creates a modulus from the big-endian bytes of n, which must be odd and have at least 2048 bits.
    /// Throws `.keyUnusable` if OpenSSL fails.
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

/// Owns one OpenSSL `BIGNUM`. Not copyable, so OpenSSL frees it exactly once.
package struct BigNumber: ~Copyable {
    package let pointer: OpaquePointer

    /// Creates the number zero. Returns `nil` if memory runs out.
    package init?() {
        guard let pointer = BN_new() else { return nil }
        self.pointer = pointer
    }

    /// Creates a number from big-endian bytes. Returns `nil` if memory runs out.
    package init?(_ bytes: [UInt8]) {
        guard let pointer = BN_bin2bn(bytes, Int32(bytes.count), nil) else { return nil }
        self.pointer = pointer
    }

    deinit { BN_free(pointer) }
}
