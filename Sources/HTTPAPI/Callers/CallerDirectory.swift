import Cryptography

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
        guard let authorization, let hash = Self.hashOfBearer(authorization) else {
            throw Problem(.callerUnauthenticated)
        }
        var found: APIKey?
        for key in keys where ConstantTime.areEqual(key.hash, hash) { found = key }
        guard let found else { throw Problem(.callerUnauthenticated) }
        return found
    }

    /// Of the credentials of RFC 6750 §2.1; the scheme's case does not matter.
    private static func hashOfBearer(_ authorization: String) -> [UInt8]? {
        var authorization = authorization
        return authorization.withUTF8 { bytes in
            guard bytes.count > 7, bytes.count <= 512,
                bytes[..<7].elementsEqual(
                    "bearer ".utf8, by: { ($0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0) == $1 })
            else { return nil }
            // White space behind a field's value is not part of it (RFC 9112 §5.1).
            var end = bytes.count
            while end > 7, bytes[end - 1] == UInt8(ascii: " ") || bytes[end - 1] == UInt8(ascii: "\t") {
                end -= 1
            }
            return SHA256Digest.hash(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[7..<end])))
                .bytes
        }
    }
}
