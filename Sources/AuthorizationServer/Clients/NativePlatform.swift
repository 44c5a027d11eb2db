/// Where a native client runs. It decides which redirect URIs are safe there (RFC 8252, appendix B).
public enum NativePlatform: String, Sendable, Hashable, CaseIterable {
    case ios, android, macos, windows, linux, uwp

    /// Whether a client may listen on a loopback port. On a phone another app can take the port while the
    /// client is in the background.
    public var allowsLoopback: Bool {
        switch self {
        case .ios, .android: false
        case .macos, .windows, .linux, .uwp: true
        }
    }

    /// The length of a custom scheme in characters that the system accepts. `nil` is no bound.
    public var longestScheme: Int? { self == .uwp ? 39 : nil }
}
