public import AppleAccounts

/// Scopes without duplicates, in the order of their first occurrence (RFC 6749 §3.3).
public struct ScopeSet: Sendable, Hashable {
    public let tokens: [ScopeToken]

    /// Maximum number of scopes per request and per client.
    public static let most = 64
    /// Maximum size of a set's text in bytes.
    public static let longest = 2048

    /// Creates a set. A repeated scope keeps its first position.
    public init(_ tokens: some Sequence<ScopeToken>) {
        // With so few scopes, comparing each with the others is faster than creating a `Set`.
        var known: [ScopeToken] = []
        for token in tokens where !known.contains(token) { known.append(token) }
        self.tokens = known
    }

    /// Parses scopes separated by single spaces. Returns `nil` if the string has another form, contains no
    /// scopes or exceeds the limits.
    public init?(parsing text: String) {
        guard text.utf8.count <= Self.longest else { return nil }
        var tokens: [ScopeToken] = []
        for part in text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false) {
            guard tokens.count < Self.most, let token = ScopeToken(Substring(part)) else { return nil }
            tokens.append(token)
        }
        self.init(tokens)
    }

    /// The set as the value of a `scope` parameter.
    public var text: String { tokens.map(\.rawValue).joined(separator: " ") }

    /// True if the set requests user data but lacks `openid`, without which neither an ID token nor userinfo
    /// can contain that data.
    public var lacksOpenID: Bool { !contains(.openID) && (contains(.email) || contains(.profile)) }

    public var isEmpty: Bool { tokens.isEmpty }

    public func contains(_ token: ScopeToken) -> Bool { tokens.contains(token) }

    /// Returns true if every scope of this set is in the other set.
    public func isSubset(of other: ScopeSet) -> Bool { tokens.allSatisfy(other.contains) }

    /// Returns the scopes of this set that are also in the other set, in this set's order.
    public func intersection(_ other: ScopeSet) -> ScopeSet { ScopeSet(tokens.filter(other.contains)) }

    /// Returns the scopes of a string that are in this set, in the string's order. Returns `nil` if there are
    /// none.
    public func remainder(of text: String) -> String? {
        guard let scopes = ScopeSet(parsing: text) else { return nil }
        if scopes.isSubset(of: self) { return text }
        let remaining = scopes.intersection(self)
        return remaining.isEmpty ? nil : remaining.text
    }

    /// Returns the union of both sets. This set's scopes come first.
    public func union(_ other: ScopeSet) -> ScopeSet { ScopeSet(tokens + other.tokens) }
}

extension ScopeSet: CustomStringConvertible {
    public var description: String { text }
}

/// A `scope-token` of RFC 6749 §3.3: case-sensitive, printable ASCII without space, `"` and `\`.
public struct ScopeToken: ByteComparedText {
    public let rawValue: String

    /// Maximum length in characters. It is enough for the URLs that Google uses as scopes.
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

/// The built-in scopes, which need no configuration (OpenID Connect Core §3.1.2.1, §5.4, §11).
extension ScopeToken {
    /// Requests an ID token.
    public static let openID = ScopeToken(known: "openid")
    /// Allows access to the user's names.
    public static let profile = ScopeToken(known: "profile")
    /// Allows access to the e-mail address, or to the fact that it is hidden.
    public static let email = ScopeToken(known: "email")
    /// Requests a refresh token.
    public static let offlineAccess = ScopeToken(known: "offline_access")

    public static let builtIn = [openID, profile, email, offlineAccess]
}
