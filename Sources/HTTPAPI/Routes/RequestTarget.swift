/// The target of a request (RFC 9112 §3.2), parsed: the origin form, or the absolute form that a proxy may
/// send.
///
/// The authority form is for CONNECT and the asterisk form for OPTIONS, which this service does not support.
struct RequestTarget {
    /// As received, still percent-encoded.
    let path: Substring
    let query: Substring?

    /// `nil` for any other text.
    init?(_ text: String) {
        guard text.utf8.allSatisfy(Self.mayStandInTarget) else { return nil }
        var rest = text[...]
        if rest.utf8.first != UInt8(ascii: "/") {
            guard let tail = Self.withoutAuthority(rest) else { return nil }
            rest = tail
        }
        let question = UInt8(ascii: "?")
        let length = rest.utf8.withContiguousStorageIfAvailable { $0.firstIndex(of: question) ?? $0.count }
        let mark =
            length.map { rest.utf8.index(rest.startIndex, offsetBy: $0) }
            ?? rest.utf8.firstIndex(of: question) ?? rest.endIndex
        // An empty path is the root (RFC 9110 §4.2.3).
        path = mark == rest.startIndex ? "/" : rest[..<mark]
        query = mark < rest.endIndex ? rest[rest.utf8.index(after: mark)...] : nil
    }

    /// What follows the authority of an http URI, whose path may be empty, or `nil` for any other text.
    private static func withoutAuthority(_ text: Substring) -> Substring? {
        for scheme: StaticString in ["http://", "https://"] {
            guard RequestFields.areEqual(text.prefix(scheme.utf8CodeUnitCount), scheme) else { continue }
            let rest = text.utf8.dropFirst(scheme.utf8CodeUnitCount)
            let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
            return isAuthority(Substring(rest[..<end]), mayBeEmpty: false) ? Substring(rest[end...]) : nil
        }
        return nil
    }

    /// A host with an optional port and without user information (RFC 9110 §4.2.4), of characters that RFC
    /// 3986 §3.2 allows.
    static func isAuthority(_ text: Substring, mayBeEmpty: Bool) -> Bool {
        guard !text.isEmpty else { return mayBeEmpty }
        return text.utf8.first != UInt8(ascii: ":")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-._~%!$&'()*+,;=:[]".utf8.contains(byte)
                }
            }
    }

    /// A target has no fragment, no white space and only ASCII. Browsers leave some characters unescaped that
    /// RFC 3986 wants escaped, so all others are accepted.
    private static func mayStandInTarget(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#")
    }
}
