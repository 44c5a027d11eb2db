import JOSE

/// The callers that may use this service.
public struct CallerDirectory: Sendable {
    private let keys: [APIKey]
    private let isOpen: Bool

    public init(keys: [APIKey]) {
        self.keys = keys
        isOpen = false
    }

    private init() {
        keys = []
        isOpen = true
    }

    /// Lets everybody in. For development only.
    public static let open = CallerDirectory()

    /// Returns the caller, or `nil` when the directory is open to everybody. Throws `caller_unauthenticated`.
    ///
    /// The secret is hashed first, and its hash compared with every configured one in full, so that the time taken
    /// tells nothing about any of them.
    func caller(presenting authorization: String?) throws(Problem) -> APIKey? {
        if isOpen { return nil }
        guard let authorization, let secret = Self.bearer(authorization) else {
            throw Problem(.callerUnauthenticated)
        }
        let hash = SHA256Digest.hash(secret)
        var found: APIKey?
        for key in keys where ConstantTime.areEqual(key.hash, hash) { found = key }
        guard let found else { throw Problem(.callerUnauthenticated) }
        return found
    }

    /// The credentials of RFC 6750 §2.1; the scheme's case does not matter.
    private static func bearer(_ authorization: String) -> [UInt8]? {
        let bytes = authorization.utf8
        guard bytes.count > 7, bytes.count <= 512, RequestFields.areEqual(authorization.prefix(7), "bearer ")
        else {
            return nil
        }
        // White space behind a field's value is not part of it (RFC 9112 §5.1).
        var secret = Array(bytes.dropFirst(7))
        while secret.last == UInt8(ascii: " ") || secret.last == UInt8(ascii: "\t") { secret.removeLast() }
        return secret
    }
}
