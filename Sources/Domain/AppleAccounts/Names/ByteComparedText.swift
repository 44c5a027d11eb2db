import Encodings

/// Text that is equal only to text with the same bytes.
///
/// `String ==` is canonical equivalence (U+212A equals "K"), the databases compare bytes. If two parts of the
/// service considered two names equal and a third did not, a user could get another user's account. So every
/// name in this module compares, sorts and hashes its UTF-8 bytes.
public protocol ByteComparedText: Hashable, Comparable, Sendable {
    var rawValue: String { get }
}

extension ByteComparedText {
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.rawValue.isByteEqual(to: rhs.rawValue)
    }

    public static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.rawValue.utf8.lexicographicallyPrecedes(rhs.rawValue.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        let isHashed: Void? = rawValue.utf8.withContiguousStorageIfAvailable { bytes in
            hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
        guard isHashed == nil else { return }
        Array(rawValue.utf8).withUnsafeBytes { hasher.combine(bytes: $0) }
    }

    /// Returns true if a string can be a name: 1 to 255 characters without control characters.
    ///
    /// U+0000 ends a string in C and is an error in PostgreSQL, so it must never reach a database.
    static func isAcceptable(_ text: String) -> Bool {
        // A character has at most four bytes.
        guard (1...1020).contains(text.utf8.count), !text.hasControlCharacters else { return false }
        return text.utf8.count <= 255 || text.characterCount <= 255
    }
}

/// An Apple developer team ("A1B2C3D4E5"). Each team gets its own `sub` for a user.
public struct TeamID: ByteComparedText {
    public let rawValue: String

    /// Returns `nil` unless the text has 1 to 255 characters and no control character.
    public init?(_ text: String) {
        guard Self.isAcceptable(text) else { return nil }
        rawValue = text
    }
}

/// A bundle ID or a Services ID: the `aud` of Apple's tokens.
public struct ClientID: ByteComparedText {
    public let rawValue: String

    /// Returns `nil` unless the text has 1 to 255 characters and no control character.
    public init?(_ text: String) {
        guard Self.isAcceptable(text) else { return nil }
        rawValue = text
    }
}

/// The `sub` that Apple gave a user in one team.
///
/// Apple promises only "a unique, stable string", so nothing about its form is assumed.
public struct AppleSubject: ByteComparedText {
    public let rawValue: String

    /// Returns `nil` unless the text has 1 to 255 characters and no control character. The token verifier has
    /// the same requirement, so no account and no credential has a name for which this returns `nil`.
    public init?(_ text: String) {
        guard Self.isAcceptable(text) else { return nil }
        rawValue = text
    }
}

/// Identifier of a notification: Apple's `jti`, or a digest of the payload without a `jti`.
public struct InboxIdentifier: ByteComparedText {
    public let rawValue: String

    /// Returns `nil` unless the text has 1 to 255 characters and no control character.
    public init?(_ text: String) {
        guard Self.isAcceptable(text) else { return nil }
        rawValue = text
    }
}

/// The name of an OAuth client of this service (RFC 6749 §2.2), as spelled in the
/// configuration. It is never a client ID of Apple's.
public struct OAuthClientID: ByteComparedText {
    public let rawValue: String

    /// Returns `nil` unless the text has 1 to 255 characters and no control character.
    public init?(_ text: String) {
        guard Self.isAcceptable(text) else { return nil }
        rawValue = text
    }
}
