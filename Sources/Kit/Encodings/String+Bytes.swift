extension String {
    /// Returns true if two strings have the same UTF-8 bytes.
    ///
    /// `==` compares by canonical equivalence, so U+212A (Kelvin sign) equals "K". Databases and Apple
    /// compare bytes, and an attacker could exploit the difference.
    package func isByteEqual(to other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        // Native Swift strings are contiguous, so they take this branch, which compares memory.
        let isEqual = utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable { theirs in
                WordScan.areEqual(UnsafeRawBufferPointer(mine), UnsafeRawBufferPointer(theirs))
            }
        }
        return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}

extension String {
    /// Number of Unicode scalars. It counts the bytes that begin a scalar, so it need not decode the text.
    package var characterCount: Int {
        var text = self
        return text.withUTF8 { bytes in
            var count = 0
            for byte in bytes where byte & 0xC0 != 0x80 { count += 1 }
            return count
        }
    }
}

extension String {
    /// True if the text contains a control character: U+0000 to U+001F or U+007F to U+009F.
    package var hasControlCharacters: Bool {
        var text = self
        return text.withUTF8 { bytes in
            var previous: UInt8 = 0
            let start = WordScan.endOfPrintableASCII(in: UnsafeRawBufferPointer(bytes))
            for byte in bytes[start...] {
                if byte < 0x20 || byte == 0x7F { return true }
                // UTF-8 encodes U+0080 to U+009F as C2 80 to C2 9F.
                if previous == 0xC2, byte < 0xA0 { return true }
                previous = byte
            }
            return false
        }
    }
}

extension String {
    /// True if the text can be an e-mail address: text on both sides of an "@", 1 to 320 characters (RFC 3696
    /// §3), and no control character.
    package var isMailAddress: Bool {
        guard let sign = utf8.lastIndex(of: UInt8(ascii: "@")), sign != utf8.startIndex,
            utf8.index(after: sign) != utf8.endIndex
        else { return false }
        return characterCount <= 320 && !hasControlCharacters
    }
}

extension StringProtocol {
    /// Returns true if the text contains only ASCII letters, digits and the ASCII characters in `others`.
    package func hasOnlyLettersDigits(and others: String) -> Bool {
        utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: others.utf8.contains(byte)
            }
        }
    }
}
