public import AppleAccounts

/// Scopes without repetition, in the order of their first occurrence (RFC 6749 §3.3).
public struct ScopeSet: Sendable, Hashable {
    public let tokens: [ScopeToken]

    /// Largest number of scopes of a request, and of a client.
    public static let most = 64
    /// Largest size in bytes of the text of a set.
    public static let longest = 2048

    /// Creates a set. A repeated scope keeps its first place.
    public init(_ tokens: some Sequence<ScopeToken>) {
        // Comparing each scope with the others takes less time than
        // creating a `Set`, because there are few scopes.
        var known: [ScopeToken] = []
        for token in tokens where !known.contains(token) { known.append(token) }
        self.tokens = known
    }

    /// Reads scopes that are separated by single spaces. Returns `nil` for anything else, for
    /// a text without a scope, and above the bounds.
    public init?(parsing text: String) {
        guard text.utf8.count <= Self.longest else { return nil }
        var tokens: [ScopeToken] = []
        for part in text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false) {
            guard tokens.count < Self.most, let token = ScopeToken(Substring(part)) else { return nil }
            tokens.append(token)
        }
        self.init(tokens)
    }

    /// The value of the parameter `scope`.
    public var text: String { tokens.map(\.rawValue).joined(separator: " ") }

    /// True if the scopes name the user's data, but neither an ID token nor userinfo can contain it.
    public var lacksOpenID: Bool { !contains(.openID) && (contains(.email) || contains(.profile)) }

    public var isEmpty: Bool { tokens.isEmpty }

    public func contains(_ token: ScopeToken) -> Bool { tokens.contains(token) }

    /// Returns true if every scope of this set is in the other set.
    public func isSubset(of other: ScopeSet) -> Bool { tokens.allSatisfy(other.contains) }

    /// Returns the scopes of this set that are also in the other set, in the order of this set.
    public func intersection(_ other: ScopeSet) -> ScopeSet { ScopeSet(tokens.filter(other.contains)) }

    /// Returns the scopes of a text that are in this set, in the
    /// order of the text. `nil` if none is in this set.
    public func remainder(of text: String) -> String? {
        guard let scopes = ScopeSet(parsing: text) else { return nil }
        if scopes.isSubset(of: self) { return text }
        let remaining = scopes.intersection(self)
        return remaining.isEmpty ? nil : remaining.text
    }

    /// Returns the scopes of both sets, the scopes of this set first.
    public func union(_ other: ScopeSet) -> ScopeSet { ScopeSet(tokens + other.tokens) }
}

extension ScopeSet: CustomStringConvertible {
    public var description: String { text }
}

/// One scope, `scope-token` of RFC 6749 §3.3: case-sensitive, printable ASCII without space, `"` and `\`.
public struct ScopeToken: ByteComparedText {
    public let rawValue: String

    /// Largest number of characters. Sufficient for the URLs that Google uses as scopes.
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
