import Encodings

/// A parsed request target (RFC 9112 §3.2), in origin form or in the absolute form that a proxy may send.
///
/// The authority form is only for CONNECT and the asterisk form only for OPTIONS, and this service supports
/// neither method.
package struct RequestTarget {
    /// Path as received, still percent-encoded.
    package let path: Substring
    package let query: Substring?

    /// Parses a target. Returns `nil` for any other form.
    package init?(_ text: String) {
        var rest = text[...]
        guard Self.isAcceptable(rest) else { return nil }
        if rest.utf8.first != UInt8(ascii: "/") {
            guard let tail = Self.withoutAuthority(rest) else { return nil }
            rest = tail
        }
        let (path, query) = rest.cut(at: UInt8(ascii: "?"))
        // An empty path is the root (RFC 9110 §4.2.3).
        self.path = path.isEmpty ? "/" : path
        self.query = query
    }

    /// Returns the text after the authority of an http or https URI, whose path may be empty. Returns `nil`
    /// for any other text.
    private static func withoutAuthority(_ text: Substring) -> Substring? {
        for scheme: StaticString in ["http://", "https://"] {
            guard RequestFields.areEqual(text.prefix(scheme.utf8CodeUnitCount), scheme) else { continue }
            let rest = text.utf8.dropFirst(scheme.utf8CodeUnitCount)
            let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
            return isAuthority(Substring(rest[..<end]), mayBeEmpty: false) ? Substring(rest[end...]) : nil
        }
        return nil
    }

    /// Returns true for a host with an optional port but without user information (RFC 9110 §4.2.4), if RFC
    /// 3986 §3.2 allows all of its characters.
    static func isAuthority(_ text: Substring, mayBeEmpty: Bool) -> Bool {
        guard !text.isEmpty else { return mayBeEmpty }
        return text.utf8.first != UInt8(ascii: ":") && authorityCharacters.containsAll(of: text)
    }

    private static let authorityCharacters = ASCIISet(lettersDigitsAnd: "-._~%!$&'()*+,;=:[]")

    /// Returns true for an ASCII target without a fragment or white space. RFC 3986 requires escapes for some
    /// other characters, but browsers send these unescaped, so this check accepts them.
    private static func isAcceptable(_ text: Substring) -> Bool {
        let result = text.utf8.withContiguousStorageIfAvailable { text in
            let bytes = UnsafeRawBufferPointer(text)
            return WordScan.endOfPrintableASCII(in: bytes) == bytes.count
                && WordScan.firstOffset(of: UInt8(ascii: " "), in: bytes, from: 0) == nil
                && WordScan.firstOffset(of: UInt8(ascii: "#"), in: bytes, from: 0) == nil
        }
        return result ?? text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
    }
}

/// Strict percent-decoding (RFC 3986 §2.1).
package enum PercentEncoding {
    package enum Failure: Error, Equatable {
        /// The text has a broken escape or is not valid UTF-8.
        case malformed
        /// The text contains U+0000, which ends a string in SQLite and is refused by PostgreSQL.
        case characterNotAllowed
    }

    /// Decodes a string. A `+` stays a plus sign, although it means a space in HTML forms.
    package static func decode(_ text: Substring) throws(Failure) -> String {
        guard text.firstIndex(ofASCII: 0) == nil else { throw .characterNotAllowed }
        if text.firstIndex(ofASCII: UInt8(ascii: "%")) == nil { return String(text) }
        var text = String(text)
        return try text.withUTF8 { decode($0, plus: UInt8(ascii: "+")) }.get()
    }

    /// - Parameter plus: Byte that replaces a `+`.
    package static func decode(_ bytes: UnsafeBufferPointer<UInt8>, plus: UInt8) -> Result<String, Failure> {
        var (isMalformed, hasZero) = (false, false)
        // The loop runs on a buffer, because iterating over a view of the text costs time for each byte, and
        // a string can be as long as a header or a form.
        let decoded = [UInt8](unsafeUninitializedCapacity: bytes.count) { output, count in
            var next = 0
            while next < bytes.count {
                var byte = bytes[next]
                next += 1
                if byte == UInt8(ascii: "%") {
                    guard next + 1 < bytes.count, let high = Hexadecimal.value(of: bytes[next]),
                        let low = Hexadecimal.value(of: bytes[next + 1])
                    else {
                        isMalformed = true
                        return
                    }
                    byte = high << 4 | low
                    next += 2
                } else if byte == UInt8(ascii: "+") {
                    byte = plus
                }
                hasZero = hasZero || byte == 0
                output[count] = byte
                count += 1
            }
        }
        if isMalformed { return .failure(.malformed) }
        if hasZero { return .failure(.characterNotAllowed) }
        return String(validating: decoded, as: UTF8.self).map { .success($0) } ?? .failure(.malformed)
    }

    /// Returns true if a query can contain the text unchanged, because it has only characters that RFC 3986
    /// §3.4 allows, and no `&`.
    package static func isQueryText(_ text: Substring) -> Bool {
        queryCharacters.containsAll(of: text)
    }

    private static let queryCharacters = ASCIISet(lettersDigitsAnd: "-._~%!$'()*+,;=:@/?")
}

/// A set of ASCII characters. Every byte from clients is looked up in such a set, so it is two words and
/// needs no search.
package struct ASCIISet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    package init(_ characters: StaticString) {
        precondition(characters.isASCII, "not ASCII")
        for byte in characters.bytes {
            insert(byte)
        }
    }

    /// Creates a set of letters, digits and the characters in `others`.
    package init(lettersDigitsAnd others: StaticString) {
        self.init(others)
        for byte in UInt8(ascii: "A")...UInt8(ascii: "Z") {
            insert(byte)
            insert(byte | 0x20)
        }
        for byte in UInt8(ascii: "0")...UInt8(ascii: "9") { insert(byte) }
    }

    /// Creates a set of all visible characters (which exclude the space), except those in `others`.
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

    /// Returns true if the set contains all bytes. It tests every byte, because a branch per byte would cost
    /// more than an early exit could save.
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

/// Faster searches and comparisons for `Substring`, which process many bytes at a time.
extension Substring {
    /// Returns the first position of an ASCII character; `nil` if the text does not contain it.
    package func firstIndex(ofASCII byte: UInt8) -> Index? {
        let found = utf8.withContiguousStorageIfAvailable { bytes in
            WordScan.firstOffset(of: byte, in: UnsafeRawBufferPointer(bytes), from: 0) ?? bytes.count
        }
        guard let offset = found else { return utf8.firstIndex(of: byte) }
        let index = utf8.index(startIndex, offsetBy: offset)
        return index == endIndex ? nil : index
    }

    /// Returns the text before and after the first occurrence of an ASCII character.
    package func cut(at byte: UInt8) -> (before: Substring, after: Substring?) {
        guard let index = firstIndex(ofASCII: byte) else { return (self, nil) }
        return (self[..<index], self[utf8.index(after: index)...])
    }

    /// Returns true if both texts have the same bytes, as `String.isByteEqual` does.
    package func isByteEqual(to other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isEqual = utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable { theirs in
                WordScan.areEqual(UnsafeRawBufferPointer(mine), UnsafeRawBufferPointer(theirs))
            }
        }
        return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
