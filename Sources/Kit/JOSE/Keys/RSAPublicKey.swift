import COpenSSL
import Cryptography
import Synchronization

/// An RSA public key that may verify RS256 signatures, parsed once.
///
/// Only safe keys can be created: an odd modulus of 2048 to 4096 bits and the exponent 65537. With e = 1
/// anyone could forge signatures, and a huge e would make verification hundreds of times slower.
public final class RSAPublicKey: @unchecked Sendable {
    // `@unchecked`: the numbers do not change after `init`, and verification only reads them. Each context of
    // the pool is used by one thread at a time.
    private let number: RSAModulus
    private let pool: Mutex<ContextPool>

    let modulus: [UInt8]
    let exponent: [UInt8]

    /// Both numbers big-endian; leading zeros are dropped. Throws `.keyUnusable`.
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

    /// Verifies RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3). Returns false unless the signature is valid
    /// and has exactly the length of the modulus.
    public func isValidSignature(_ signature: [UInt8], for message: ArraySlice<UInt8>) -> Bool {
        guard signature.count == modulus.count, let digest = SHA256Digest.algorithm else { return false }
        let pooled = pool.withLock { $0.take() }
        guard let context = pooled ?? PooledContext(digest: digest) else { return false }
        let isValid = context.context.isValid(signature, for: message, of: number)
        // A refused signature leaves entries in the thread's error queue, which would never be read.
        if !isValid { ERR_clear_error() }
        pool.withLock { $0.put(context) }
        return isValid
    }
}

/// One reusable context on the heap, so that moving it to and from the pool copies only a reference.
private final class PooledContext {
    let context: VerificationContext

    init?(digest: OpaquePointer) {
        guard let context = VerificationContext(digest: digest) else { return nil }
        self.context = context
    }
}

private struct ContextPool {
    /// There are never more contexts than threads that verify concurrently; this limit is only a safeguard.
    private static let capacity = 64
    nonisolated(unsafe) private var free: [PooledContext] = []

    mutating func take() -> sending PooledContext? { free.popLast() }

    mutating func put(_ context: PooledContext) {
        if free.count < Self.capacity { free.append(context) }
    }
}
