import Cryptography
import Encodings
import HTTPAPI

/// Secrets that everybody knows, because they were printed in our documentation, are the same in every copy of the program,
/// or come first in every list of passwords. A service with one of them is open, whatever else it checks.
enum KnownSecrets {
    /// What is known of an API key by its hash. `nil` when nothing is.
    ///
    /// - Parameter name: Of the key: a word that is its own name is no secret.
    static func fault(ofHash hash: [UInt8], name: String, isDevelopment: Bool) -> String? {
        if sampleHashes.contains(hash) { return "is a sample of the documentation" }
        guard !isDevelopment else { return nil }
        if hash == APIKeySecret.hash(DevelopmentSettings.secret) { return "is that of siwa dev's key" }
        let words = trivialKeys + [name, "siwa_\(name)"]
        return words.contains { APIKeySecret.hash($0) == hash }
            ? "is that of a key that is easily guessed" : nil
    }

    /// What is known of a sealing key.
    static func fault(of key: SealingKey, isDevelopment: Bool) -> String? {
        // 32 random bytes have 30 different ones, and fewer than 16 not once in 10^15 keys. It also finds the key of the
        // trial in docker-compose.yml, which is a word over and over.
        if key.distinctBytes == 1 || (!isDevelopment && key.distinctBytes < 16) { return "is no random key" }
        guard !isDevelopment, let development = DevelopmentSettings.sealingKey else { return nil }
        return key.hasSameBytes(as: development) ? "is siwa dev's key" : nil
    }

    /// README's first sample, and the SHA-256 of "password", which was the other one.
    private static let sampleHashes = [
        "3770b689028c3f764db9a5c0e893c79c117eeaa75ccfdc849f9ca990ea469677",
        "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8",
    ].compactMap { Hexadecimal.decode($0) }

    private static let trivialKeys = [
        "", "123456", "12345678", "123456789", "admin", "api-key", "api_key", "apikey", "backend", "changeme",
        "example", "foo", "key", "letmein", "qwerty", "root", "secret", "siwa", "test", "token",
    ]
}
