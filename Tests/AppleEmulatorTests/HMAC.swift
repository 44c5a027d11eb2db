import Cryptography

/// HMAC (RFC 2104) from the hash function, to verify what libjwt wrote.
enum HMAC {
    static func sha256(_ message: [UInt8], secret: String) -> [UInt8] {
        let secret = Array(secret.utf8)
        var key = secret.count > 64 ? SHA256Digest.hash(secret).bytes : secret
        key += [UInt8](repeating: 0, count: 64 - key.count)
        let inner = SHA256Digest.hash(key.map { $0 ^ 0x36 } + message)
        return SHA256Digest.hash(key.map { $0 ^ 0x5C } + inner).bytes
    }
}
