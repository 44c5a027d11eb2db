public import JOSE

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A key set that is read once from a file and never changes,
/// for networks without access to Apple and for tests.
///
/// After Apple rotates its keys, the operator must replace the file and restart the process.
public struct PinnedKeySet: VerificationKeys {
    private let keys: JSONWebKeySet

    /// Parses a JSON Web Key Set of at most 64 KiB. Throws if there is no key set with a usable key.
    public init(parsing bytes: [UInt8]) throws(PinnedKeySetError) {
        do throws(KeySetFetchError) {
            keys = try ReceivedKeySet(bytes).keys
        } catch {
            throw PinnedKeySetError(error)
        }
    }

    /// Reads the file. This blocks, so call it only at startup.
    public init(file path: String) throws(PinnedKeySetError) {
        try self.init(parsing: try PinnedFile.content(of: path, atMost: KeySetResponse.longestBody + 1))
    }

    /// The IDs of the usable keys.
    package var keyIDs: [String] { keys.keyIDs }

    public func cachedKey(for keyID: String) -> RSAPublicKey? { keys.key(for: keyID) }

    public func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey {
        guard let key = keys.key(for: keyID) else { throw KeySetError(.unknownKey) }
        return key
    }

    public var health: KeySetHealth {
        var health = KeySetHealth(status: .ready, keyCount: keys.count)
        health.skippedKeyCount = keys.skipped.count
        return health
    }
}

extension PinnedKeySetError {
    fileprivate init(_ error: KeySetFetchError) {
        let code: Code =
            switch error.code {
            case .empty: .empty
            case .tooLarge: .tooLarge
            case .malformed, .html: .malformed
            case .noUsableKey: .noUsableKey
            case .unreachable, .timedOut, .statusUnexpected: .unreadable
            }
        self.init(code, detail: error.detail)
    }
}

/// The reason why a pinned key set was refused. This is a configuration error, so the service should not
/// start. Equality is on `code`.
public typealias PinnedKeySetError = KeySetFailure<PinnedKeySetErrorCode>

public enum PinnedKeySetErrorCode: String, KeySetFailureCode {
    public static let subject = "pinned key set refused"

    /// The file cannot be opened or read.
    case unreadable
    case empty
    /// The file is larger than 64 KiB.
    case tooLarge = "too_large"
    /// The file is not a JSON Web Key Set.
    case malformed
    /// No key in the set can be used for verification.
    case noUsableKey = "no_usable_key"
}

/// Reads a file up to a size limit, so that a path to a device cannot exhaust memory.
enum PinnedFile {
    static func content(of path: String, atMost limit: Int) throws(PinnedKeySetError) -> [UInt8] {
        // The file is opened in nonblocking mode, because opening a pipe without a writer would otherwise
        // block forever.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw PinnedKeySetError(.unreadable, detail: "errno \(errno)") }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: limit)
        while content.count < limit {
            let count = next(descriptor, into: &buffer)
            guard count >= 0 else { throw PinnedKeySetError(.unreadable, detail: "errno \(errno)") }
            if count == 0 { break }
            content += buffer.prefix(min(count, limit - content.count))
        }
        return content
    }

    private static func next(_ descriptor: Int32, into buffer: inout [UInt8]) -> Int {
        while true {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            // A signal that interrupts the read is not a failure.
            guard count < 0, errno == EINTR else { return count }
        }
    }
}
