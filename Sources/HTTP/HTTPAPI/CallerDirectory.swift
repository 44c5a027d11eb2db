public import AppleAccounts
public import Cryptography
import Encodings
import HTTPEngine

/// The callers that may use this service.
public struct CallerDirectory: Sendable {
    /// All configured keys, including operator keys.
    private let allKeys: [APIKey]
    /// The keys whose holders may call the API.
    private let keys: [APIKey]
    /// The key that gives access only to the metrics; `nil` if it is not configured.
    private let metricsKey: APIKey?
    /// True if every caller is accepted.
    let isOpen: Bool

    /// Log name of the metrics key. If a metrics key is configured, no API key can have this name.
    public static let metricsName = "metrics"

    /// - Parameter metricsKey: SHA-256 of the secret that Prometheus sends.
    public init(keys: [APIKey], metricsKey: SHA256Digest? = nil) {
        allKeys = keys
        self.keys = keys.filter { $0.roles.contains(.backend) }
        self.metricsKey = metricsKey.map { APIKey(name: Self.metricsName, hash: $0, scope: .all) }
        isOpen = false
    }

    private init() {
        (allKeys, keys) = ([], [])
        metricsKey = nil
        isOpen = true
    }

    /// Maximum length of a presented secret in bytes, checked before hashing. `siwa api-key` creates keys of
    /// 48 bytes.
    package static let longestSecret = 512

    /// The names of the API keys, without the metrics key.
    public var names: [String] { keys.map(\.name) }

    /// Accepts every caller. For development only.
    public static let open = CallerDirectory()

    /// Returns the caller; `nil` if every caller is accepted. Throws `caller_unauthenticated` if none
    /// matches.
    ///
    /// Compares the secret's hash with every configured hash in full, so that the time taken reveals nothing
    /// about the hashes.
    func caller(presenting authorization: String?) throws(Problem) -> APIKey? {
        try key(presenting: authorization, of: keys)
    }

    /// Returns the caller that may read the metrics, identified by an API key or the metrics key; `nil` if
    /// every caller is accepted.
    func metricsReader(presenting authorization: String?) throws(Problem) -> APIKey? {
        try key(presenting: authorization, of: keys + (metricsKey.map { [$0] } ?? []))
    }

    private func key(presenting authorization: String?, of keys: [APIKey]) throws(Problem) -> APIKey? {
        if isOpen { return nil }
        guard let authorization, let hash = Self.hashOfBearer(authorization) else {
            throw Problem(.callerUnauthenticated)
        }
        var found: APIKey?
        for key in keys where ConstantTime.areEqual(key.hash, hash) { found = key }
        guard let found else { throw Problem(.callerUnauthenticated) }
        return found
    }

    /// Returns the caller with this name if the secret belongs to the caller's key, otherwise `nil`.
    func caller(named name: String, presenting secret: String) -> APIKey? {
        guard secret.utf8.count <= Self.longestSecret else { return nil }
        let hash = SHA256Digest.hash(secret)
        // Comparing the names reveals only which names exist. Names are not secret, so that is harmless.
        return keys.first { $0.name.isByteEqual(to: name) && ConstantTime.areEqual($0.hash, hash) }
    }

    /// Result of looking up an operator's key during a console sign-in.
    package enum OperatorFinding {
        case operatorKey(APIKey)
        /// A configured key without the `operator` role.
        case otherKey(APIKey)
        case metricsKey
        case unknown
    }

    /// Finds an operator's key. Compares the secret's hash with every configured hash in full.
    package func operatorKey(presenting secret: String) -> OperatorFinding {
        guard secret.utf8.count <= Self.longestSecret else { return .unknown }
        let hash = SHA256Digest.hash(secret)
        var found: APIKey?
        for key in allKeys where ConstantTime.areEqual(key.hash, hash) { found = key }
        if let found { return found.roles.contains(.operator) ? .operatorKey(found) : .otherKey(found) }
        let isMetrics = metricsKey.map { ConstantTime.areEqual($0.hash, hash) } ?? false
        return isMetrics ? .metricsKey : .unknown
    }

    /// Returns the key with this name if it still has the `operator` role.
    package func operatorKey(named name: String) -> APIKey? {
        allKeys.first { $0.roles.contains(.operator) && $0.name.isByteEqual(to: name) }
    }

    /// Returns the hash of a Bearer token. Returns `nil` for a header above the maximum length, so that no
    /// sender can make hashing slow.
    private static func hashOfBearer(_ authorization: String) -> SHA256Digest? {
        guard authorization.utf8.count <= longestSecret, var token = BearerField(authorization)?.token,
            !token.isEmpty
        else { return nil }
        return token.withUTF8 { SHA256Digest.hash(UnsafeRawBufferPointer($0)) }
    }
}

/// A configured API key: its name for the log, the SHA-256 of its secret, and the apps that its caller has
/// access to.
public struct APIKey: Sendable {
    public let name: String
    public let hash: SHA256Digest
    public let scope: AppScope
    public let roles: Set<Role>

    /// The purpose of a key.
    public enum Role: String, Sendable, CaseIterable {
        /// The key may call the API.
        case backend
        /// The key may sign in to the console. Without the `backend` role, it cannot call the API.
        case `operator`
    }

    public init(name: String, hash: SHA256Digest, scope: AppScope, roles: Set<Role> = [.backend]) {
        self.name = name
        self.hash = hash
        self.scope = scope
        self.roles = roles
    }
}

/// Creates the secrets that callers present.
public enum APIKeySecret {
    /// A prefix that identifies leaked keys, and keys that were configured in place of their hashes.
    public static let prefix = "siwa_"

    /// Returns the prefix followed by 256 random bits.
    public static func make() -> String {
        prefix + Base64URL.encode(SecureRandom.bytes(count: 32))
    }

    /// Returns the hash for the configuration. A secret with 256 random bits cannot be guessed, so a fast
    /// hash is sufficient.
    public static func hash(_ secret: String) -> SHA256Digest {
        SHA256Digest.hash(secret)
    }
}

/// The `Authorization` header with a Bearer token (RFC 6750 §2.1), for every endpoint that accepts a token.
///
/// Ignores the scheme's case and white space around the token, because RFC 9110 §11.4 allows several spaces
/// after the scheme. Reading does not allocate memory.
struct BearerField {
    /// The unchecked token, which can be empty.
    let token: Substring

    /// Returns `nil` for another scheme.
    init?(_ authorization: String) {
        let bytes = authorization.utf8
        guard RequestFields.areEqual(Substring(bytes.prefix(7)), "bearer ") else { return nil }
        var token = bytes.dropFirst(7).drop(while: Self.isSpace)
        while let last = token.last, Self.isSpace(last) { token.removeLast() }
        self.token = Substring(token)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
