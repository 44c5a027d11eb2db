public import JOSE

/// A key set that is read once and never changes. It is for networks without access to Apple, and for tests.
///
/// After a rotation of Apple's keys, the file must be replaced and the process restarted.
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

    /// Reads the file. This call blocks, so it is for the start of a process.
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
