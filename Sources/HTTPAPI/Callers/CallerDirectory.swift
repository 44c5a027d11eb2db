import Cryptography
import Encodings

/// The callers that may use this service.
public struct CallerDirectory: Sendable {
    private let keys: [APIKey]
    /// Whether every caller is accepted.
    let isOpen: Bool

    public init(keys: [APIKey]) {
        self.keys = keys
        isOpen = false
    }

    private init() {
        keys = []
        isOpen = true
    }

    /// Accepts every caller. For development only.
    public static let open = CallerDirectory()

    /// Returns the caller, or `nil` when the directory accepts every caller. Throws `caller_unauthenticated`.
    ///
    /// Compares the hash of the secret with every configured hash in full, so that the time it takes reveals
    /// nothing about them.
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

    /// Returns the caller with this name if the secret is the one of its key, or `nil`.
    func caller(named name: String, presenting secret: String) -> APIKey? {
        let hash = SHA256Digest.hash(secret)
        // The comparison of the names says only which names there are, and they are no secrets.
        return keys.first { $0.name.isByteEqual(to: name) && ConstantTime.areEqual($0.hash, hash) }
    }

    /// The hash of a token in the form of RFC 6750 §2.1. The case of the scheme does not matter.
    private static func hashOfBearer(_ authorization: String) -> SHA256Digest? {
        var authorization = authorization
        return authorization.withUTF8 { bytes in
            guard bytes.count > 7, bytes.count <= 512,
                RequestFields.areEqual(bytes[..<7], "bearer ")
            else { return nil }
            // White space after a field's value is not part of it (RFC 9112 §5.1).
            var end = bytes.count
            while end > 7, bytes[end - 1] == UInt8(ascii: " ") || bytes[end - 1] == UInt8(ascii: "\t") {
                end -= 1
            }
            return SHA256Digest.hash(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[7..<end])))
        }
    }
}
