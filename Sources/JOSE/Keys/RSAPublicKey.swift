import COpenSSL
import Cryptography
import Synchronization

/// An RSA public key that may verify RS256 signatures, parsed once.
///
/// Only keys that are safe to trust exist: an odd modulus of 2048 to 4096 bits and the exponent 65537. A key with e = 1 would
/// let anyone forge, and a huge e cost hundreds of times as much.
public final class RSAPublicKey: @unchecked Sendable {
    // `@unchecked`: the numbers are never changed after `init`, and verifying only reads them. Each context is taken out of
    // the pool by one thread at a time.
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

    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 §3.3). False for anything else than a valid signature of the
    /// modulus' exact length.
    public func isValidSignature(_ signature: [UInt8], for message: ArraySlice<UInt8>) -> Bool {
        guard signature.count == modulus.count, let digest = SHA256Digest.algorithm else { return false }
        let pooled = pool.withLock { $0.take() }
        guard let context = pooled ?? PooledContext(digest: digest) else { return false }
        let isValid = context.context.isValid(signature, for: message, of: number)
        // A refused signature leaves entries in the thread's error queue, which nobody reads.
        if !isValid { ERR_clear_error() }
        pool.withLock { $0.put(context) }
        return isValid
    }
}

/// One reusable context on the heap, so that moving it in and out of the pool copies a reference only.
private final class PooledContext {
    let context: VerificationContext

    init?(digest: OpaquePointer) {
        guard let context = VerificationContext(digest: digest) else { return nil }
        self.context = context
    }
}

private struct ContextPool {
    /// More than threads that verify at once are never needed; the bound only guards against surprises.
    private static let capacity = 64
    nonisolated(unsafe) private var free: [PooledContext] = []

    mutating func take() -> sending PooledContext? { free.popLast() }

    mutating func put(_ context: PooledContext) {
        if free.count < Self.capacity { free.append(context) }
    }
}
