/// Scopes without repetition, in the order in which they were named (RFC 6749 §3.3).
public struct ScopeSet: Sendable, Hashable {
    public let tokens: [ScopeToken]

    /// Number of scopes that a request can name, and that a client can have.
    public static let most = 64
    /// Bound in bytes of the text of a set.
    public static let longest = 2048

    /// Keeps a repeated scope at its first place.
    public init(_ tokens: some Sequence<ScopeToken>) {
        // Comparing each scope with the others takes less time than making a set, because there are few.
        var known: [ScopeToken] = []
        for token in tokens where !known.contains(token) { known.append(token) }
        self.tokens = known
    }

    /// Reads scopes that are separated by single spaces. Returns `nil` for anything else, for a text without
    /// a scope, and past the bounds.
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

    /// True if the scopes name the user's data, but neither an ID token nor userinfo can give it.
    public var lacksOpenID: Bool { !contains(.openID) && (contains(.email) || contains(.profile)) }

    public var isEmpty: Bool { tokens.isEmpty }

    public func contains(_ token: ScopeToken) -> Bool { tokens.contains(token) }

    /// Returns `true` if every scope of this set is in the other set.
    public func isSubset(of other: ScopeSet) -> Bool { tokens.allSatisfy(other.contains) }

    /// Returns the scopes of this set that are also in the other set, in the order of this set.
    public func intersection(_ other: ScopeSet) -> ScopeSet { ScopeSet(tokens.filter(other.contains)) }

    /// Returns the scopes of a text that are in this set, in the order of the text. `nil` when none is.
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
