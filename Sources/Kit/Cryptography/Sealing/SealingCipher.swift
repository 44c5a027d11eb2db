import COpenSSL

/// One operation of AES-256-GCM (NIST SP 800-38D §7) with its OpenSSL context.
struct SealingCipher: ~Copyable {
    /// Fetched once, because otherwise OpenSSL 3 searches its providers on every call.
    nonisolated(unsafe) private static let algorithm: OpaquePointer? = EVP_CIPHER_fetch(
        nil, "AES-256-GCM", nil)

    private let context: OpaquePointer

    enum Direction: Int32 {
        case open = 0
        case seal = 1
    }

    /// A process that cannot encrypt must not continue, so it ends when libcrypto lacks the algorithm.
    init(_ direction: Direction, key: [UInt8], nonce: [UInt8]) {
        precondition(key.count == SealingKey.size, "a key has 32 bytes")
        precondition(nonce.count == SealedFrame.nonceSize, "a nonce has 12 bytes")
        guard let algorithm = Self.algorithm, let context = EVP_CIPHER_CTX_new() else {
            preconditionFailure("libcrypto has no AES-256-GCM")
        }
        let status = EVP_CipherInit_ex2(context, algorithm, key, nonce, direction.rawValue, nil)
        precondition(status == 1, "libcrypto refuses AES-256-GCM")
        self.context = context
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    /// Adds data that is authenticated but not encrypted. Must be called before `transform`.
    borrowing func authenticate(_ bytes: [UInt8]) {
        // OpenSSL treats a null pointer as the end of the associated data, and an empty array can have a null
        // pointer.
        guard !bytes.isEmpty else { return }
        var count: Int32 = 0
        let status = EVP_CipherUpdate(context, nil, &count, bytes, Int32(bytes.count))
        precondition(status == 1, "AES-256-GCM failed")
    }

    /// Encrypts or decrypts. The plaintext must not be used before `verify` has returned true.
    borrowing func transform(_ input: [UInt8]) -> [UInt8] {
        guard !input.isEmpty else { return [] }
        return [UInt8](unsafeUninitializedCapacity: input.count) { output, initialized in
            var count: Int32 = 0
            let status = EVP_CipherUpdate(context, output.baseAddress, &count, input, Int32(input.count))
            precondition(status == 1 && count == input.count, "AES-256-GCM failed")
            initialized = input.count
        }
    }

    /// Ends an encryption and returns the authentication tag.
    consuming func tag() -> [UInt8] {
        var rest: Int32 = 0
        var none: UInt8 = 0
        precondition(EVP_CipherFinal_ex(context, &none, &rest) == 1, "AES-256-GCM failed")
        return [UInt8](unsafeUninitializedCapacity: SealedFrame.tagSize) { output, count in
            let size = Int32(SealedFrame.tagSize)
            let status = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, size, output.baseAddress)
            precondition(status == 1, "AES-256-GCM failed")
            count = SealedFrame.tagSize
        }
    }

    /// Ends a decryption. Returns true when the value is authentic. OpenSSL compares in constant time.
    consuming func verify(tag: [UInt8]) -> Bool {
        precondition(tag.count == SealedFrame.tagSize, "a tag has 16 bytes")
        var tag = tag
        var rest: Int32 = 0
        var none: UInt8 = 0
        return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
            && EVP_CipherFinal_ex(context, &none, &rest) == 1
    }
}
