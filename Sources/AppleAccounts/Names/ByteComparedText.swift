/// Text that is equal only to the same bytes.
///
/// `String ==` is canonical equivalence (U+212A equals "K"), the databases compare bytes. A name that two parts
/// of the service hold for equal and a third does not is an account that belongs to somebody else, so every name
/// in this module compares, sorts and hashes its UTF-8 bytes.
public protocol ByteComparedText: Hashable, Comparable, Sendable {
    var rawValue: String { get }
}

extension ByteComparedText {
    public static func == (lhs: Self, rhs: Self) -> Bool {
        // Unequal strings have unequal bytes, and the standard library finds that out without a walk.
        guard lhs.rawValue == rhs.rawValue, lhs.rawValue.utf8.count == rhs.rawValue.utf8.count else {
            return false
        }
        return lhs.rawValue.utf8.elementsEqual(rhs.rawValue.utf8)
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
        var count = 0
        var previous: UInt8 = 0
        for byte in text.utf8 {
            if byte < 0x20 || byte == 0x7F { return false }
            // U+0080 to U+009F, the second block of control characters, are C2 80 to C2 9F.
            if previous == 0xC2, byte < 0xA0 { return false }
            // Continuation bytes do not begin a character.
            if byte & 0xC0 != 0x80 { count += 1 }
            previous = byte
        }
        return (1...255).contains(count)
    }
}
