/// A set of ASCII characters. The set is used for each byte that clients send, so it is two words and needs
/// no search.
package struct ASCIISet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    package init(_ characters: StaticString) {
        precondition(characters.isASCII, "not ASCII")
        for byte in characters.bytes {
            insert(byte)
        }
    }

    /// Letters, digits and the characters of `others`.
    package init(lettersDigitsAnd others: StaticString) {
        self.init(others)
        for byte in UInt8(ascii: "A")...UInt8(ascii: "Z") {
            insert(byte)
            insert(byte | 0x20)
        }
        for byte in UInt8(ascii: "0")...UInt8(ascii: "9") { insert(byte) }
    }

    /// All visible characters, which excludes the space, without the characters of `others`.
    package init(visibleWithout others: StaticString) {
        let excluded = ASCIISet(others)
        self.init("")
        for byte in UInt8(0x21)...0x7E where !excluded.contains(byte) { insert(byte) }
    }

    package func contains(_ byte: UInt8) -> Bool {
        let word = byte < 64 ? low : high
        return byte < 0x80 && (word &>> UInt64(byte)) & 1 == 1
    }

    package func containsAll(of text: Substring) -> Bool {
        text.utf8.withContiguousStorageIfAvailable(containsAll) ?? text.utf8.allSatisfy(contains)
    }

    /// Looks at every byte, because a branch for each byte costs more than an early end could save.
    package func containsAll(of bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var (seen, all): (UInt8, UInt64) = (0, 1)
        for byte in bytes {
            seen |= byte
            all &= (byte < 64 ? low : high) &>> UInt64(byte)
        }
        return all == 1 && seen < 0x80
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 &<< UInt64(byte) } else { high |= 1 &<< UInt64(byte) }
    }
}
