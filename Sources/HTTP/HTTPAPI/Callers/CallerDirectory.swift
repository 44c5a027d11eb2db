import AppleAccounts
public import Cryptography
import Encodings
import HTTPEngine

/// The callers that may use this service.
public struct CallerDirectory: Sendable {
    /// All keys, those of operators too.
    private let allKeys: [APIKey]
    /// The keys that open calls.
    private let keys: [APIKey]
    /// The key that opens the metrics and nothing else; `nil` when there is none.
    private let metricsKey: APIKey?
    /// True if every caller is accepted.
    let isOpen: Bool

    /// Name of the key for the metrics in the log. No API key can have it beside such a key.
    public static let metricsName = "metrics"

    /// - Parameter metricsKey: The SHA-256 of the secret that Prometheus presents.
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

    /// Bound in bytes of what a caller presents, looked at before anything is hashed. A key of `siwa api-key` has 48.
    package static let longestSecret = 512

    /// The names of the API keys, that of the metrics not among them.
    public var names: [String] { keys.map(\.name) }

    /// Accepts every caller. For development only.
    public static let open = CallerDirectory()

    /// Returns the caller, or `nil` when the directory accepts every caller. Throws `caller_unauthenticated`.
    ///
    /// Compares the hash of the secret with every configured hash in full, so that the duration reveals
    /// nothing about the hashes.
    func caller(presenting authorization: String?) throws(Problem) -> APIKey? {
        try key(presenting: authorization, of: keys)
    }

    /// Returns the reader of the metrics: a caller, or a client with the key for the metrics.
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

    /// Returns the caller with this name if the secret belongs to its key, or `nil`.
    func caller(named name: String, presenting secret: String) -> APIKey? {
        guard secret.utf8.count <= Self.longestSecret else { return nil }
        let hash = SHA256Digest.hash(secret)
        // The comparison of the names reveals only which names exist, and names are no secrets.
        return keys.first { $0.name.isByteEqual(to: name) && ConstantTime.areEqual($0.hash, hash) }
    }

    /// A secret at the sign-in of the console.
    package enum OperatorFinding {
        case operatorKey(APIKey)
        /// A key of this service without the role.
        case otherKey(APIKey)
        case metricsKey
        case unknown
    }

    /// Finds the key of an operator, comparing with every configured hash in full.
    package func operatorKey(presenting secret: String) -> OperatorFinding {
        guard secret.utf8.count <= Self.longestSecret else { return .unknown }
        let hash = SHA256Digest.hash(secret)
        var found: APIKey?
        for key in allKeys where ConstantTime.areEqual(key.hash, hash) { found = key }
        if let found { return found.roles.contains(.operator) ? .operatorKey(found) : .otherKey(found) }
        let isMetrics = metricsKey.map { ConstantTime.areEqual($0.hash, hash) } ?? false
        return isMetrics ? .metricsKey : .unknown
    }

    /// Returns the key with this name if it still has the role `operator`.
    package func operatorKey(named name: String) -> APIKey? {
        allKeys.first { $0.roles.contains(.operator) && $0.name.isByteEqual(to: name) }
    }

    /// The bound in bytes keeps the duration of a hash from depending on the sender.
    private static func hashOfBearer(_ authorization: String) -> SHA256Digest? {
        guard authorization.utf8.count <= longestSecret, var token = BearerField(authorization)?.token,
            !token.isEmpty
        else { return nil }
        return token.withUTF8 { SHA256Digest.hash(UnsafeRawBufferPointer($0)) }
    }
}
