public import JOSE

/// A private key, and the ID of its published public key.
public struct SigningKey: Sendable {
    /// Opaque ID. Apple's IDs have 6 to 10 letters and digits.
    public let keyID: String
    public let privateKey: RSAPrivateKey

    public init(keyID: String, privateKey: RSAPrivateKey) {
        (self.keyID, self.privateKey) = (keyID, privateKey)
    }

    /// Generates 2048-bit keys in parallel, because each takes up to a second.
    ///
    /// Throws `JOSEError` when OpenSSL fails.
    public static func generate(count: Int) async throws -> [SigningKey] {
        try await withThrowingTaskGroup(of: SigningKey.self) { group in
            for _ in 0..<count {
                group.addTask {
                    SigningKey(keyID: newKeyID(), privateKey: try RSAPrivateKey.generate(bits: 2048))
                }
            }
            var keys: [SigningKey] = []
            for try await key in group { keys.append(key) }
            return keys
        }
    }

    static func newKeyID() -> String {
        let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        return String(
            (0..<Int.random(in: 6...10)).map { _ in characters[Int.random(in: characters.indices)] })
    }
}
