/// The name of an object's member, compared byte for byte.
///
/// Swift's `String ==` is canonical equivalence ("K" equals U+212A), so names are not compared as `String`.
/// Nearly every name fits into three words, and then it needs neither an allocation nor reference counting.
public struct JSONName: Sendable {
    @usableFromInline let count: Int
    /// The first 24 bytes, eight per word, padded with zeros.
    @usableFromInline let words: (UInt64, UInt64, UInt64)
    private let rest: [UInt8]?

    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(bytes, 0..<bytes.count)
    }

    /// The name at this position of a document.
    init(_ document: UnsafeRawBufferPointer, _ range: Range<Int>) {
        let (start, end) = (range.lowerBound, range.upperBound)
        count = end - start
        words.0 = Self.word(of: document, from: start, to: end)
        words.1 = count > 8 ? Self.word(of: document, from: start + 8, to: end) : 0
        words.2 = count > 16 ? Self.word(of: document, from: start + 16, to: end) : 0
        rest = count > 24 ? Array(document[(start + 24)..<end]) : nil
    }

    /// Lets `switch name { case "iss": ... }` compare bytes. It does not allocate for names that fit.
    @inlinable
    public static func ~= (literal: StaticString, name: JSONName) -> Bool {
        // Most names differ already in this comparison.
        literal.utf8CodeUnitCount == name.count && literal.utf8Start.pointee == name.firstByte
            && name.hasBytes(of: literal)
    }

    @inlinable
    public static func == (name: JSONName, literal: StaticString) -> Bool {
        literal ~= name
    }

    public var string: String {
        var words = words
        let first = withUnsafeBytes(of: &words) { Array($0.prefix(count)) }
        return String(decoding: first + (rest ?? []), as: UTF8.self)
    }

    /// 0 for an empty name, like the end of a literal.
    @inlinable
    var firstByte: UInt8 { UInt8(truncatingIfNeeded: UInt64(littleEndian: words.0)) }

    @usableFromInline
    func hasBytes(of literal: StaticString) -> Bool {
        let bytes = UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount)
        guard bytes.count == count, count <= 24 else { return self == JSONName(bytes) }
        return withUnsafeBytes(of: words) { mine in
            for index in 0..<count where mine[index] != bytes[index] { return false }
            return true
        }
    }

    /// In the byte order of the machine, so that the words have the memory layout of the bytes.
    private static func word(of bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> UInt64 {
        if start + 8 <= bytes.count {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self))
            let excess = max(0, start + 8 - end)
            return UInt64(littleEndian: excess < 8 ? word & (.max >> (8 * UInt64(excess))) : 0)
        }
        var word: UInt64 = 0
        for index in (start..<end).reversed() { word = word << 8 | UInt64(bytes[index]) }
        return UInt64(littleEndian: word)
    }
}

extension JSONName: Equatable {
    public static func == (lhs: JSONName, rhs: JSONName) -> Bool {
        lhs.count == rhs.count && lhs.words == rhs.words && lhs.rest == rhs.rest
    }
}
