import AuthorizationServer
import Cryptography
import Encodings
import Foundation
import HTTPAPI

/// Publicly known secrets, which occur in our documentation, in every copy of the program, or in lists of
/// common passwords. A service with a known secret is open to every caller.
enum KnownSecrets {
    /// Returns the reason why the API key with this hash is publicly known; `nil` for any other key.
    ///
    /// - Parameter name: The key's name, because a key must not be its own name.
    static func fault(ofHash hash: SHA256Digest, name: String, isDevelopment: Bool) -> String? {
        if sampleHashes.contains(hash) { return "is a sample of the documentation" }
        guard !isDevelopment else { return nil }
        if Hexadecimal.encode(hash) == trialKeyHash { return "is that of siwa dev's key" }
        let words = trivialHashes + spellings(of: [name]).map { APIKeySecret.hash($0) }
        return words.contains(hash) ? "is that of a key that is easily guessed" : nil
    }

    /// Returns the reason why the OAuth client secret with this hash is publicly known; `nil` for any other
    /// secret.
    ///
    /// - Parameters:
    ///   - hash: A hash of 64 hexadecimal digits, or a string that is not a hash.
    ///   - client: The client ID, because the secret must not be the client ID.
    static func fault(ofClientSecretHash hash: String, client: String, isDevelopment: Bool) -> String? {
        guard let hash = OAuthClientSecretHash(hexadecimal: hash) else { return nil }
        func isOne(of secrets: [String]) -> Bool { secrets.contains(where: hash.matches) }
        if sampleHashes.contains(where: { hash.hexadecimal == Hexadecimal.encode($0) }) {
            return "is a sample of the documentation"
        }
        guard !isDevelopment else { return nil }
        if trialClientSecretHashes.contains(hash.hexadecimal) { return "is that of a client of siwa dev" }
        if hash.hexadecimal == trialKeyHash || isOne(of: sampleClientSecrets) {
            return "is a sample of the documentation"
        }
        return isOne(of: trivialKeys + spellings(of: [client]) + ["siwa_cs_\(client)"])
            ? "is that of a secret that is easily guessed" : nil
    }

    /// Returns the reason why the webhook secret is publicly known; `nil` for any other secret.
    static func fault(ofWebhookSecret secret: String, isDevelopment: Bool) -> String? {
        guard !isDevelopment else { return nil }
        return Hexadecimal.encode(SHA256Digest.hash(secret)) == trialWebhookSecretHash
            ? "is the secret of siwa dev" : nil
    }

    /// Returns the reason why the sealing key is publicly known or not random; `nil` for any other key.
    static func fault(of key: SealingKey, isDevelopment: Bool) -> String? {
        // 32 random bytes have about 30 different values, and only one random key in 10^15 has fewer than 16.
        // This also detects the sample key in docker-compose.yml, which repeats one word.
        if key.distinctBytes == 1 || (!isDevelopment && key.distinctBytes < 16) { return "is no random key" }
        guard !isDevelopment else { return nil }
        // Only one random key in 10^16 has 11 equal differences among the 31 between neighbouring bytes.
        if key.equalSteps >= 11 { return "counts up or down, or spells the alphabet" }
        if trivialKeys.contains(where: { isHash(of: $0, key) }) { return "is the hash of a word" }
        return trialSealingKeyHash.map(key.hasDigest) == true ? "is siwa dev's key" : nil
    }

    private static func isHash(of word: String, _ key: SealingKey) -> Bool {
        SealingKey(name: key.name, bytes: SHA256Digest.hash(word).bytes).map(key.hasSameBytes) ?? false
    }

    // These are only the hashes of the trial's secrets, because the program must not contain the secrets
    // themselves.
    private static let trialKeyHash = "4fa82fac1c6beafe28db1892634507ab617274599fae4241e7dbd699582cf5b0"
    private static let trialClientSecretHashes = [
        "2ca1213efb6a530a23191b1caafff17d0cb2bbe1b95aebbdd2fe5d90f8541f8d",
        "0ea835605d59c652527119578b75fa037077b3a5ad5a56009c61d4280f7fd786",
    ]
    private static let trialWebhookSecretHash =
        "19516e1ea7c9b855f989274efa242688da6c250f00c9a61b9af971e0f165866e"
    private static let trialSealingKeyHash = SHA256Digest(
        Hexadecimal.decode("229de0cf19a31fdc4348ef5825332f98caa3262fd728e0659159a35130630785") ?? [])

    /// The SHA-256 hashes of sample keys, one of which is "password".
    private static let sampleHashes = [
        "3770b689028c3f764db9a5c0e893c79c117eeaa75ccfdc849f9ca990ea469677",
        "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8",
    ].compactMap { Hexadecimal.decode($0).flatMap { SHA256Digest($0) } }

    /// The client secrets in the documentation's examples.
    private static let sampleClientSecrets = ["siwa_cs_abc", "siwa_cs_", "siwa_cs_secret"]

    /// Returns every spelling of these words that operators may use in place of a random key.
    private static func spellings(of words: [String]) -> [String] {
        var spellings: [String] = []
        for word in words {
            spellings.append("siwa_\(word)")
            for end in ["", "1", "123", "1234", "!"] {
                spellings += [word + end, word.capitalized + end, word.uppercased() + end]
            }
        }
        return spellings
    }

    private static let trivialKeys: [String] = digits + spellings(of: commonWords)

    private static let trivialHashes: [SHA256Digest] = trivialKeys.map { APIKeySecret.hash($0) }

    private static let digits: [String] = [
        "", "-", "0", "1", "12", "123", "1234", "12345", "123456", "1234567", "12345678", "123456789",
        "1234567890", "000000", "111111", "123123", "654321", "666666", "888888", "1q2w3e4r", "abc123",
    ]

    /// Short words: service names, roles, common passwords, and names in the documentation's examples.
    private static let commonWords: [String] = [
        "a", "abc", "abcd", "abcdef", "abcdefg", "access", "account", "ada", "admin", "administrator",
        "alice",
        "api", "api-key", "api_key", "apikey", "app", "apple", "asdf", "asdfgh", "auth", "backend", "bar",
        "baz",
        "bearer", "billing", "bob", "changeit", "changeme", "change-me", "client", "client-secret",
        "client_secret", "clientsecret", "company", "console", "credential", "dashboard", "database", "debug",
        "default", "demo", "dev", "developer", "development", "dragon", "dummy", "enter", "example", "false",
        "foo", "foobar", "football", "frontend", "google", "grace", "guest", "hash", "hello", "hunter2",
        "iloveyou", "key", "letmein", "local", "localhost", "login", "manager", "master", "metrics",
        "monitor",
        "monkey", "mypassword", "mysecret", "nil", "nobody", "none", "null", "oauth", "olga", "op",
        "operations",
        "operator", "ops", "owner", "p4ssw0rd", "pass", "passw0rd", "password", "phone", "princess",
        "private",
        "prod", "production", "prometheus", "public", "qwerty", "qwertyuiop", "root", "sample", "secret",
        "server", "service", "shadow", "sign-in", "signin", "siwa", "sre", "staff", "staging", "sunshine",
        "superman", "superuser", "support", "sysadmin", "system", "temp", "test", "tester", "testing", "tmp",
        "token", "trustno1", "true", "undefined", "user", "watch", "watch-backend", "web", "welcome",
        "whatever",
        "work", "xxx", "yyy", "zzz",
    ]
}
