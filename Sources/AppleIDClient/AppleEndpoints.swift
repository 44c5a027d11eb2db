// AppleIDClient owns how Apple is asked over HTTP: its endpoints, their time limits and what may come back at
// most. It does not own what an answer means: that is decided by whoever asked, behind the protocols of other
// rooms.

/// Where Apple's endpoints are. They are constants, never taken from discovery: in 2025 Apple's discovery
/// document was wrong for some days, and every service that followed it broke.
public struct AppleEndpoints: Sendable, Equatable {
    /// `https://appleid.apple.com`
    public static let apple = AppleEndpoints(trusted: "https://appleid.apple.com")

    /// Without a slash at the end.
    public let baseURL: String

    /// Another host that plays Apple. `nil` unless it is an absolute http or https URL without user, query
    /// and fragment.
    public init?(baseURL: String) {
        guard let scheme = ["https://", "http://"].first(where: { baseURL.hasPrefix($0) }) else { return nil }
        let bytes = Array(baseURL.utf8)
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/[]%".utf8)
        guard bytes.allSatisfy({ allowed.contains($0) }) else { return nil }
        let authority = bytes.dropFirst(scheme.utf8.count).prefix { $0 != UInt8(ascii: "/") }
        guard Self.isAuthority(String(decoding: authority, as: UTF8.self)) else { return nil }
        var trimmed = baseURL
        while trimmed.hasSuffix("/") { trimmed.removeLast() }
        self.init(trusted: trimmed)
    }

    /// The key set that signs identity tokens and notifications.
    public var keySet: String { "\(baseURL)/auth/keys" }

    /// Exchanges codes, validates refresh tokens, grants access for a transfer.
    public var token: String { "\(baseURL)/auth/token" }
    public var revoke: String { "\(baseURL)/auth/revoke" }
    /// Who a user is for another team.
    public var migration: String { "\(baseURL)/auth/usermigrationinfo" }
    /// Where a browser goes to sign in.
    public var authorize: String { "\(baseURL)/auth/authorize" }

    private init(trusted baseURL: String) {
        self.baseURL = baseURL
    }

    /// A host name, an IPv4 address or a bracketed IPv6 address, and perhaps a port.
    private static func isAuthority(_ text: String) -> Bool {
        var host = text[...]
        if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
            guard let port = UInt16(text[text.index(after: colon)...]), port > 0 else { return false }
            host = text[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            return host.count > 2
                && host.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        }
        return !host.isEmpty && !host.contains { ":[]%".contains($0) }
    }
}
