public import JOSE

/// A key set that was read once and never changes: for networks without a way to Apple, and for tests.
///
/// Whoever pins keys has to replace the file, and restart, when Apple rotates them.
public struct PinnedKeySet: VerificationKeys {
    private let keys: JSONWebKeySet

    /// Throws unless these bytes are a JSON Web Key Set with a usable key, of at most 64 KiB.
    public init(parsing bytes: [UInt8]) throws(PinnedKeySetError) {
        do throws(KeySetFetchError) {
            keys = try ReceivedKeySet(bytes).keys
        } catch {
            throw PinnedKeySetError(error)
        }
    }

    /// Reads the file; blocks, so it is for the start of a process.
    public init(file path: String) throws(PinnedKeySetError) {
        try self.init(parsing: try PinnedFile.content(of: path, atMost: KeySetResponse.longestBody + 1))
    }

    /// Of the usable keys.
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
