import Encodings

/// Text that is equal only to the same bytes.
///
/// `String ==` is canonical equivalence (U+212A equals "K"), the databases compare bytes. A name that two
/// parts of the service hold for equal and a third does not is an account that belongs to somebody else, so
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

    /// Whether a string can be a name: 1 to 255 characters and none of them a control character.
    ///
    /// U+0000 ends a string in C and is an error in PostgreSQL, so it must never get as far as a database.
    static func isAcceptable(_ text: String) -> Bool {
        // A character has at most four bytes.
        guard (1...1020).contains(text.utf8.count), !text.hasControlCharacters else { return false }
        return text.utf8.count <= 255 || text.characterCount <= 255
    }
}
