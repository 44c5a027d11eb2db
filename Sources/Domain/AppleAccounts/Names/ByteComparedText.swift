import Encodings

/// Text that is equal only to text with the same bytes.
///
/// `String ==` tests canonical equivalence (U+212A equals "K"), but databases compare bytes. If two parts of
/// the service considered two names equal and a third did not, a user could get another user's account, so
/// every name in this module compares, sorts and hashes its UTF-8 bytes.
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

    /// Returns true if a string can serve as a name: 1 to 255 characters, none of them control characters.
    ///
    /// U+0000 ends a C string and is an error in PostgreSQL, so it must never reach a database.
    static func isAcceptable(_ text: String) -> Bool {
        // A character has at most four bytes.
        guard (1...1020).contains(text.utf8.count), !text.hasControlCharacters else { return false }
        return text.utf8.count <= 255 || text.characterCount <= 255
    }
}

/// An Apple developer team ("A1B2C3D4E5"). A user has a different `sub` in each team.
public struct TeamID: ByteComparedText {
    public let rawValue: String

    /// Returns `nil` unless the text has 1 to 255 characters and no control character.
    public init?(_ text: String) {
        guard Self.isAcceptable(text) else { return nil }
        rawValue = text
    }
}

/// A bundle ID or Services ID: the `aud` in Apple's tokens.
public struct ClientID: ByteComparedText {
    public let rawValue: String

    /// Returns `nil` unless the text has 1 to 255 characters and no control character.
    public init?(_ text: String) {
        guard Self.isAcceptable(text) else { return nil }
        rawValue = text
    }
}

/// The `sub` that identifies a user within one team.
///
/// Apple promises only "a unique, stable string", so nothing is assumed about its format.
public struct AppleSubject: ByteComparedText {
    public let rawValue: String

    /// Returns `nil` unless the text has 1 to 255 characters and no control character. The token verifier
    /// requires the same, so no account or credential has a name for which this returns `nil`.
    public init?(_ text: String) {
        guard Self.isAcceptable(text) else { return nil }
        rawValue = text
    }
}

/// Identifies a notification: Apple's `jti`, or a digest of the payload if there is no `jti`.
public struct InboxIdentifier: ByteComparedText {
    public let rawValue: String

    /// Returns `nil` unless the text has 1 to 255 characters and no control character.
    public init?(_ text: String) {
        guard Self.isAcceptable(text) else { return nil }
        rawValue = text
    }
}

/// The name of one of this service's OAuth clients (RFC 6749 §2.2), as spelled in the configuration. It is
/// never an Apple client ID.
public struct OAuthClientID: ByteComparedText {
    public let rawValue: String

    /// Returns `nil` unless the text has 1 to 255 characters and no control character.
    public init?(_ text: String) {
        guard Self.isAcceptable(text) else { return nil }
        rawValue = text
    }
}
