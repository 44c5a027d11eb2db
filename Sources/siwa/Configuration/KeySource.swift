import KeySets

/// Where Apple's public keys come from.
enum KeySource: Sendable {
    /// `{base}/auth/keys`. The base is Apple, or in development the emulator.
    case remote(baseURL: String)
    case pinned(PinnedKeySet)

    static let apple = "https://appleid.apple.com"
}
