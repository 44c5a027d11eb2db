public import JOSE

/// A private key and the ID under which its public half is published.
public struct SigningKey: Sendable {
    /// Opaque, 6 to 10 letters and digits at Apple.
    public let keyID: String
    public let privateKey: RSAPrivateKey

    public init(keyID: String, privateKey: RSAPrivateKey) {
        (self.keyID, self.privateKey) = (keyID, privateKey)
    }

    /// Makes new 2048-bit keys in parallel: one takes a good part of a second.
    ///
    /// Throws `JOSEError` when OpenSSL cannot.
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
