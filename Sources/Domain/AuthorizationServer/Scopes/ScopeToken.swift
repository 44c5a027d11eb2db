public import AppleAccounts

/// One scope, `scope-token` of RFC 6749 §3.3: case-sensitive, printable ASCII without space, `"` and `\`.
public struct ScopeToken: ByteComparedText {
    public let rawValue: String

    /// Largest number of characters. Long enough for the URLs that Google uses as scopes.
    public static let longest = 128

    /// Returns `nil` unless the text is a `scope-token` of 1 to 128 characters.
    public init?(_ text: some StringProtocol) {
        guard (1...Self.longest).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else {
            return nil
        }
        rawValue = String(text)
    }

    private init(known: String) {
        rawValue = known
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}

/// The scopes that this service knows without configuration (OpenID Connect Core §3.1.2.1, §5.4, §11).
extension ScopeToken {
    /// Requests an ID token.
    public static let openID = ScopeToken(known: "openid")
    /// Allows the user's names.
    public static let profile = ScopeToken(known: "profile")
    /// Allows the e-mail address, or the fact that it is hidden.
    public static let email = ScopeToken(known: "email")
    /// Requests a refresh token.
    public static let offlineAccess = ScopeToken(known: "offline_access")

    public static let builtIn = [openID, profile, email, offlineAccess]
}
