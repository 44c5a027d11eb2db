/// The platform of a native client. It decides which redirect URIs are safe (RFC 8252, appendix B).
public enum NativePlatform: String, Sendable, Hashable, CaseIterable {
    case ios, android, macos, windows, linux, uwp

    /// True if a client may listen on a loopback port. On a phone another app can take the port while the
    /// client is in the background.
    public var allowsLoopback: Bool {
        switch self {
        case .ios, .android: false
        case .macos, .windows, .linux, .uwp: true
        }
    }

    /// True if any app can claim the scheme of another, and the user cannot tell which app gets the code.
    public var sharesCustomSchemes: Bool { self == .android }

    /// True if apps have Apple's sheet, which signs users in without a browser.
    public var hasSignInWithApple: Bool {
        switch self {
        case .ios, .macos: true
        case .android, .windows, .linux, .uwp: false
        }
    }

    /// The length in characters of the longest custom scheme that the system accepts. `nil` is no bound.
    public var longestScheme: Int? { self == .uwp ? 39 : nil }
}
