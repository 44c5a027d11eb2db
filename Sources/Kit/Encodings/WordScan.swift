/// Searches bytes eight at a time, because finding the ends of strings takes much of the time to process a
/// token.
///
/// The tests for a byte in a word come from "Hacker's Delight" §6-1. A borrow can produce a false mark only
/// above a true mark, so the scan uses only the lowest mark, which is always correct.
package enum WordScan {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080

    /// Returns the offset of the first byte with this value, at or after `start`; `nil` if there is none.
    package static func firstOffset(of value: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int)
        -> Int?
    {
        let offset = end(of: bytes, from: start) { word in
            zeros(in: word ^ (ones &* UInt64(value)))
        } isMarked: {
            $0 == value
        }
        return offset < bytes.count ? offset : nil
    }

    /// Returns the offset of the first byte that a JSON string must escape (RFC 8259 §7): a quotation mark, a
    /// backslash or a control character. Returns the byte count if no byte needs an escape.
    package static func endOfPlainText(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        end(of: bytes, from: start, marks: escapes, isMarked: isEscape)
    }

    /// Returns the same end as `endOfPlainText`, but also stops at non-ASCII bytes.
    package static func endOfPlainASCII(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        end(of: bytes, from: start) { word in
            escapes(in: word) | word & tops
        } isMarked: { byte in
            isEscape(byte) || byte >= 0x80
        }
    }

    /// Returns the offset of the first byte outside U+0020 to U+007E, or the byte count if there is none.
    package static func endOfPrintableASCII(in bytes: UnsafeRawBufferPointer) -> Int {
        end(of: bytes, from: 0) { word in
            (word &- ones &* 0x20) & ~word & tops | zeros(in: word ^ (ones &* 0x7F)) | word & tops
        } isMarked: { byte in
            byte < 0x20 || byte >= 0x7F
        }
    }

    package static func areEqual(_ lhs: UnsafeRawBufferPointer, _ rhs: UnsafeRawBufferPointer) -> Bool {
        guard lhs.count == rhs.count else { return false }
        var offset = 0
        while offset + 8 <= lhs.count {
            let word = lhs.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            guard word == rhs.loadUnaligned(fromByteOffset: offset, as: UInt64.self) else { return false }
            offset += 8
        }
        while offset < lhs.count {
            guard lhs[offset] == rhs[offset] else { return false }
            offset += 1
        }
        return true
    }

    /// Returns the offset of the byte that ends the scan. `marks` sets the top bit of each byte in a word
    /// that ends the scan.
    @inline(__always)
    private static func end(
        of bytes: UnsafeRawBufferPointer, from start: Int, marks: (UInt64) -> UInt64,
        isMarked: (UInt8) -> Bool
    ) -> Int {
        var offset = start
        while offset + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            let found = marks(word)
            if found != 0 { return offset + found.trailingZeroBitCount / 8 }
            offset += 8
        }
        while offset < bytes.count, !isMarked(bytes[offset]) { offset += 1 }
        return offset
    }

    @inline(__always)
    private static func escapes(in word: UInt64) -> UInt64 {
        let controls = (word &- ones &* 0x20) & ~word & tops
        return controls | zeros(in: word ^ (ones &* 0x22)) | zeros(in: word ^ (ones &* 0x5C))
    }

    @inline(__always)
    private static func zeros(in word: UInt64) -> UInt64 { (word &- ones) & ~word & tops }

    @inline(__always)
    private static func isEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }
}
