import COpenSSL

/// Seals secrets that the program stores or sends through a browser, with AES-256-GCM (NIST SP 800-38D) and a
/// separate derived key and random nonce for each value.
///
/// The first key seals new values, and all keys open values, so operators rotate keys by inserting a new key
/// at the front. Associated data binds a value to its row, so a value that an attacker moves to another row
/// cannot be opened there. A sealed value reveals its length and its key name.
public struct SealingKeyRing: Sendable {
    public let keys: [SealingKey]
    private let first: SealingKey

    /// Creates a key ring. Returns `nil` if there is no key or if two keys have the same name.
    public init?(_ keys: [SealingKey]) {
        guard let first = keys.first, Set(keys.map(\.name)).count == keys.count else { return nil }
        self.keys = keys
        self.first = first
    }

    /// Seals a plaintext. The result is different each time, and 46 bytes longer than the plaintext and the
    /// key name together. The plaintext and the associated data can each be up to a megabyte long.
    public func seal(
        _ plaintext: [UInt8], for purpose: SealingPurpose, associatedData: [UInt8]
    ) -> [UInt8] {
        precondition(
            plaintext.count <= Self.longest && associatedData.count <= Self.longest, "too long to seal")
        let salt = SecureRandom.bytes(count: SealedFrame.saltSize)
        let header = SealedFrame.header(keyName: first.name, salt: salt)
        let nonce = SecureRandom.bytes(count: SealedFrame.nonceSize)
        let cipher = SealingCipher(.seal, key: first.derived(for: purpose, salt: salt), nonce: nonce)
        cipher.authenticate(header)
        cipher.authenticate(associatedData)
        let ciphertext = cipher.transform(plaintext)
        return header + nonce + ciphertext + cipher.tag()
    }

    /// Opens a sealed value. It never returns any part of a value that has been changed.
    ///
    /// - Throws: `SealError` if no key opens the value, or the value has been changed.
    public func open(
        _ sealed: [UInt8], for purpose: SealingPurpose, associatedData: [UInt8]
    ) throws(SealError) -> [UInt8] {
        guard let frame = SealedFrame(parsing: sealed) else { throw SealError(.malformed) }
        guard let key = keys.first(where: { $0.name == frame.keyName }) else { throw SealError(.unknownKey) }
        guard associatedData.count <= Self.longest else { throw SealError(.authenticationFailed) }
        let cipher = SealingCipher(
            .open, key: key.derived(for: purpose, salt: Array(frame.salt)), nonce: Array(frame.nonce))
        cipher.authenticate(Array(frame.header))
        cipher.authenticate(associatedData)
        let plaintext = cipher.transform(Array(frame.ciphertext))
        guard cipher.verify(tag: Array(frame.tag)) else {
            ERR_clear_error()
            throw SealError(.authenticationFailed)
        }
        return plaintext
    }

    /// Returns true if the value names the first key of the ring, and false for bytes that are not a sealed
    /// value. It does not open the value.
    public func isCurrent(_ sealed: [UInt8]) -> Bool { SealedFrame(parsing: sealed)?.keyName == first.name }

    /// Returns the key name in a sealed value; `nil` if the value is malformed. Callers must not trust the
    /// name until `open` has succeeded.
    public static func keyName(of sealed: [UInt8]) -> String? {
        SealedFrame(parsing: sealed)?.keyName
    }

    private static let longest = 1 << 20
}

/// Reason a sealed value cannot be opened. Match on `code`.
public struct SealError: Error, Sendable, Equatable {
    public enum Code: String, Sendable, CaseIterable {
        /// The value is too short, has an unknown version, or has no key name.
        case malformed
        /// The ring does not contain the key that sealed the value.
        case unknownKey = "unknown_key"
        /// The value was changed, was sealed for another purpose or row, or was sealed by a different key
        /// with the same name. AES-GCM cannot distinguish these cases.
        case authenticationFailed = "authentication_failed"
    }

    public let code: Code

    public init(_ code: Code) {
        self.code = code
    }
}

extension SealError: CustomStringConvertible {
    public var description: String { "sealed value refused: \(code.rawValue)" }
}

/// A named key that `SealingKeyRing` derives AES-256-GCM keys from (NIST SP 800-38D). The key bytes never
/// appear in a description.
///
/// One AES-GCM key must not seal more than 2^32 values with random nonces (§8.3). Therefore each value has
/// its own key, which HKDF derives from the purpose and 16 random bytes. Among 2^48 values of one purpose,
/// the probability that two values have the same key is 2^-33, and even then their nonces differ. At 50,000
/// seals per second, which is more than callers can cause, 2^48 values take 178 years.
public struct SealingKey: Sendable {
    /// Name of 1 to 32 characters from `[A-Za-z0-9_-]`. Every sealed value contains it, so it is not secret
    /// and must never change.
    public let name: String
    let bytes: [UInt8]

    /// Size in bytes: 256 bits.
    public static let size = 32

    /// Creates a key. Returns `nil` if the name is malformed or the key does not have exactly 32 bytes.
    public init?(name: String, bytes: [UInt8]) {
        guard Self.isName(Array(name.utf8)[...]), bytes.count == Self.size else { return nil }
        self.name = name
        self.bytes = bytes
    }

    /// Returns true if two keys have the same bytes. Compares in constant time.
    public func hasSameBytes(as other: SealingKey) -> Bool {
        ConstantTime.areEqual(bytes, other.bytes)
    }

    /// Returns true if the digest is the SHA-256 digest of the key bytes.
    public func hasDigest(_ digest: SHA256Digest) -> Bool { SHA256Digest.hash(bytes) == digest }

    /// First 32 bits of a hash of the key bytes, which operators use to compare keys. The key has 256 random
    /// bits, so 32 bits of its hash reveal nothing about it.
    public var fingerprint: String {
        let hash = SHA256Digest.hash(Array("siwa fingerprint\n".utf8) + bytes)
        return hash.bytes.prefix(4).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    /// Number of distinct values among the 32 key bytes. A low number shows that the key is not random.
    public var distinctBytes: Int { Set(bytes).count }

    /// Number of times that the most common difference occurs among the 31 differences between neighboring
    /// bytes. A high number shows that the bytes count up or down, or spell the alphabet.
    public var equalSteps: Int {
        var counts: [UInt8: Int] = [:]
        for (byte, next) in zip(bytes, bytes.dropFirst()) { counts[next &- byte, default: 0] += 1 }
        return counts.values.max() ?? 0
    }

    /// Derives the key for one value (RFC 5869).
    func derived(for purpose: SealingPurpose, salt: [UInt8]) -> [UInt8] {
        HKDFSHA256.deriveKey(
            from: bytes, salt: salt, info: Array("siwa seal 1\n\(purpose.rawValue)".utf8))
    }

    static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
        (1...32).contains(bytes.count)
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

extension SealingKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "sealing key \(name)" }
    public var debugDescription: String { description }
    /// Contains only the name: `dump` and string interpolation of types that contain a key use this mirror.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

/// Purpose of a sealed value. Each purpose has independent keys, so even if clients can make the service seal
/// any number of values for one purpose, those values reveal nothing about the keys of another purpose.
public struct SealingPurpose: Sendable, Hashable {
    /// The purpose as text. It is an input to the key derivation, so it must never change.
    public let rawValue: String

    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }
}

/// Format of a sealed value: a version byte (1), the length of the key name, the key name, a 16-byte salt, a
/// 12-byte nonce, the ciphertext and a 16-byte tag.
struct SealedFrame {
    /// First byte of a sealed value.
    static let version: UInt8 = 1
    static let saltSize = 16
    static let nonceSize = 12
    static let tagSize = 16
    /// Size limit of a value in bytes, because OpenSSL uses 32-bit sizes.
    static let longest = Int(Int32.max)

    /// All bytes before the nonce. The tag also authenticates them, so an attacker cannot change a value's
    /// key name.
    let header: ArraySlice<UInt8>
    let keyName: String
    let salt: ArraySlice<UInt8>
    let nonce: ArraySlice<UInt8>
    let ciphertext: ArraySlice<UInt8>
    let tag: ArraySlice<UInt8>

    /// Parses a sealed value. Returns `nil` unless every part is present.
    init?(parsing bytes: [UInt8]) {
        guard bytes.count >= 2, bytes.count <= Self.longest, bytes[0] == Self.version else { return nil }
        let nameEnd = 2 + Int(bytes[1])
        let end = nameEnd + Self.saltSize
        guard bytes.count >= end + Self.nonceSize + Self.tagSize, SealingKey.isName(bytes[2..<nameEnd]) else {
            return nil
        }
        header = bytes[..<end]
        keyName = String(decoding: bytes[2..<nameEnd], as: UTF8.self)
        salt = bytes[nameEnd..<end]
        nonce = bytes[end..<(end + Self.nonceSize)]
        ciphertext = bytes[(end + Self.nonceSize)..<(bytes.count - Self.tagSize)]
        tag = bytes[(bytes.count - Self.tagSize)...]
    }

    static func header(keyName: String, salt: [UInt8]) -> [UInt8] {
        let name = Array(keyName.utf8)
        return [version, UInt8(name.count)] + name + salt
    }
}

/// One AES-256-GCM operation (NIST SP 800-38D §7) with its OpenSSL context.
struct SealingCipher: ~Copyable {
    /// The algorithm. It is fetched once, because otherwise OpenSSL 3 searches its providers on every call.
    nonisolated(unsafe) private static let algorithm: OpaquePointer? = EVP_CIPHER_fetch(
        nil, "AES-256-GCM", nil)

    private let context: OpaquePointer

    enum Direction: Int32 {
        case open = 0
        case seal = 1
    }

    /// Creates the context. It terminates the process if libcrypto lacks the algorithm, because a process
    /// that cannot encrypt must not continue.
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

    /// Adds data that AES-GCM authenticates but does not encrypt. It must precede any call to `transform`.
    borrowing func authenticate(_ bytes: [UInt8]) {
        // OpenSSL interprets a null pointer as the end of the associated data, and an empty array's pointer
        // can be null.
        guard !bytes.isEmpty else { return }
        var count: Int32 = 0
        let status = EVP_CipherUpdate(context, nil, &count, bytes, Int32(bytes.count))
        precondition(status == 1, "AES-256-GCM failed")
    }

    /// Encrypts or decrypts bytes. Callers must not use decrypted bytes until `verify` has returned true.
    borrowing func transform(_ input: [UInt8]) -> [UInt8] {
        guard !input.isEmpty else { return [] }
        return [UInt8](unsafeUninitializedCapacity: input.count) { output, initialized in
            var count: Int32 = 0
            let status = EVP_CipherUpdate(context, output.baseAddress, &count, input, Int32(input.count))
            precondition(status == 1 && count == input.count, "AES-256-GCM failed")
            initialized = input.count
        }
    }

    /// Finishes the encryption and returns the authentication tag.
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

    /// Finishes the decryption and returns true if the value is authentic. OpenSSL compares the tags in
    /// constant time.
    consuming func verify(tag: [UInt8]) -> Bool {
        precondition(tag.count == SealedFrame.tagSize, "a tag has 16 bytes")
        var tag = tag
        var rest: Int32 = 0
        var none: UInt8 = 0
        return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
            && EVP_CipherFinal_ex(context, &none, &rest) == 1
    }
}
