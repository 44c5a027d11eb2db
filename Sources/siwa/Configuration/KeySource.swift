import KeySets

/// The source of Apple's public keys.
enum KeySource: Sendable {
    /// `{baseURL}/auth/keys`. The base URL is Apple's, or in development perhaps the emulator's.
    case remote(baseURL: String)
    case pinned(PinnedKeySet)

    static let apple = "https://appleid.apple.com"
}
