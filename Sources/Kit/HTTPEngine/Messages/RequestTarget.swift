import Encodings

/// The target of a request (RFC 9112 §3.2), parsed: the origin form, or the absolute form that a proxy may
/// send.
///
/// The authority form is for CONNECT and the asterisk form for OPTIONS, which this service does not support.
package struct RequestTarget {
    /// The path as received, still percent-encoded.
    package let path: Substring
    package let query: Substring?

    /// `nil` for any other text.
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

    /// Returns the text after the authority of an http URI, whose path may be empty, or `nil` for any other
    /// text.
    private static func withoutAuthority(_ text: Substring) -> Substring? {
        for scheme: StaticString in ["http://", "https://"] {
            guard RequestFields.areEqual(text.prefix(scheme.utf8CodeUnitCount), scheme) else { continue }
            let rest = text.utf8.dropFirst(scheme.utf8CodeUnitCount)
            let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
            return isAuthority(Substring(rest[..<end]), mayBeEmpty: false) ? Substring(rest[end...]) : nil
        }
        return nil
    }

    /// Accepts a host with an optional port and without user information (RFC 9110 §4.2.4), of characters
    /// that RFC 3986 §3.2 allows.
    static func isAuthority(_ text: Substring, mayBeEmpty: Bool) -> Bool {
        guard !text.isEmpty else { return mayBeEmpty }
        return text.utf8.first != UInt8(ascii: ":") && authorityCharacters.containsAll(of: text)
    }

    private static let authorityCharacters = ASCIISet(lettersDigitsAnd: "-._~%!$&'()*+,;=:[]")

    /// Accepts a target without fragment and white space, in ASCII. Browsers leave some characters unescaped
    /// that RFC 3986 requires to be escaped, so all others are accepted.
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
