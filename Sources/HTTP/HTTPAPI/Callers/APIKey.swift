public import AppleAccounts
public import Cryptography
import Encodings

/// A configured API key: a name for the log, the SHA-256 of the secret, and the apps that its caller may see.
public struct APIKey: Sendable {
    public let name: String
    public let hash: SHA256Digest
    public let scope: AppScope
    public let roles: Set<Role>

    /// The use of a key.
    public enum Role: String, Sendable, CaseIterable {
        /// Calls of the interface.
        case backend
        /// The console. Such a key opens no call, unless it has the other role too.
        case `operator`
    }

    public init(name: String, hash: SHA256Digest, scope: AppScope, roles: Set<Role> = [.backend]) {
        self.name = name
        self.hash = hash
        self.scope = scope
        self.roles = roles
    }
}

/// Makes the secrets that callers present.
public enum APIKeySecret {
    /// Makes a leaked key recognizable, and also a key that was configured in place of its hash.
    public static let prefix = "siwa_"

    /// 256 random bits after the prefix.
    public static func make() -> String {
        prefix + Base64URL.encode(SecureRandom.bytes(count: 32))
    }

    /// The value in the configuration. A secret of 256 random bits cannot be guessed, so it needs no slow
    /// hash.
    public static func hash(_ secret: String) -> SHA256Digest {
        SHA256Digest.hash(secret)
    }
}
